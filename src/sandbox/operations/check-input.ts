import { SandboxError } from "../../domain/errors.js";
import { isRef, isReserved, maximumRefLength, reservedKeyRefs } from "../../scenario/format/ref.js";
import { listed } from "../../scenario/problems/words.js";
import type { World } from "../world.js";

/** Role of the user in the dashboard (R33). */
export type Actor = "administrator" | "member";

/** The initiator of an operation. */
export interface Initiator {
  /** Default: administrator. */
  readonly actor?: Actor | undefined;
  /** Whether the scenario itself runs it: new keys then get the secrets that the seed and their refs give. */
  readonly isScripted?: boolean;
}

/** Throws `not_an_administrator` for a member (R33). */
export function requireAdministrator({ actor = "administrator" }: Initiator): void {
  if (actor === "administrator") return;
  throw new SandboxError(
    "not_an_administrator",
    "Only administrators of the organization create and manage keys; this was asked as a member.",
    { actor },
  );
}

/** Throws `not_found` in a world without the preview of the announced endpoints (R49). */
export function requirePreview({ preview, name }: World): void {
  if (preview) return;
  throw new SandboxError(
    "not_found",
    `Failed to find consent requests and attestations: the preview of the announced endpoints is off in ${JSON.stringify(name)}. Write preview: true into the scenario.`,
  );
}

/** The problem of each field of an input, by its name in JSON; `undefined` for a valid one. */
export type FieldProblems = Readonly<Record<string, string | undefined>>;

/**
 * Throws `validation_failed` with the invalid fields.
 *
 * Types rule these mistakes out in TypeScript, and schemas in scenarios and over HTTP; this is for JavaScript.
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

/** The problem of a value that must be one of these, where `undefined` stands for a field left out. */
export function choiceProblem(value: unknown, choices: readonly unknown[]): string | undefined {
  if (choices.includes(value)) return undefined;
  const named = choices.filter((one) => one !== undefined);
  return `must be ${named.map((one) => JSON.stringify(one)).join(" or ")}`;
}

/** The problem of a new key's ref. */
export function refProblem(value: unknown): string | undefined {
  if (isReserved(value))
    return `must not be ${listed(reservedKeyRefs, "or")}: stories use these words for no key`;
  if (value === undefined || (typeof value === "string" && isRef(value))) return undefined;
  return `must be small letters, digits and single hyphens between them, one letter at least, ${maximumRefLength} characters at most`;
}

/** The problems of fields that are not among the known ones. */
export function unknownFields(input: object, known: readonly string[], prefix = ""): FieldProblems {
  const unknown = Object.keys(input).filter((name) => !known.includes(name));
  return Object.fromEntries(unknown.map((name) => [prefix + name, `is none of ${known.join(", ")}`]));
}
