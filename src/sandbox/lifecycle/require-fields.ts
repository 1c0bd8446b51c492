import { SandboxError } from "../../domain/errors.js";
import { listed } from "../../scenario/quote.js";
import { isRef, isReserved, maximumRefLength, reservedKeyRefs } from "../../scenario/ref.js";

/** Fields by the names that the API spells them by, each with what is wrong with it; `undefined` where nothing is. */
export type FieldProblems = Readonly<Record<string, string | undefined>>;

/**
 * Throws `validation_failed` with the fields of which something is wrong.
 *
 * Types keep these mistakes out of TypeScript; callers in JavaScript and over HTTP make them.
 */
export function requireFields(doing: string, problems: FieldProblems): void {
  const wrong = Object.entries(problems).filter(([, problem]) => problem !== undefined);
  if (wrong.length === 0) return;
  throw new SandboxError(
    "validation_failed",
    `Failed to ${doing}: ${wrong.map(([field, problem]) => `${field} ${problem}`).join("; ")}.`,
    { fields: Object.fromEntries(wrong) },
  );
}

/** What is wrong with a value that must be one of these; `undefined` among them says that it may be left out. */
export function choiceProblem(value: unknown, choices: readonly unknown[]): string | undefined {
  if (choices.includes(value)) return undefined;
  const named = choices.filter((one) => one !== undefined);
  return `must be ${named.map((one) => JSON.stringify(one)).join(" or ")}`;
}

/** What is wrong with the ref of a new key. */
export function refProblem(value: unknown): string | undefined {
  if (isReserved(value))
    return `must not be ${listed(reservedKeyRefs, "or")}: a story means something else by it`;
  if (value === undefined || (typeof value === "string" && isRef(value))) return undefined;
  return `must be small letters, digits and single hyphens between them, one letter at least, ${maximumRefLength} characters at most`;
}

/** Fields that a thing does not have. */
export function unknownFields(given: object, known: readonly string[], prefix = ""): FieldProblems {
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  return Object.fromEntries(unknown.map((name) => [prefix + name, `is none of ${known.join(", ")}`]));
}
