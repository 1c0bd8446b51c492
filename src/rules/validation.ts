import { checkShape } from "../schema/check.js";
import type { Notation } from "../schema/notation.js";
import type { Problem } from "../schema/problem.js";
import type { Shape, ValueOf } from "../schema/shape.js";
import { isMapping } from "../schema/type-tag.js";
import { didYouMean, listed, quote } from "../schema/words.js";
import { SandboxError } from "./errors.js";
import { redactPlainKeys } from "./redact.js";

// The error `validation_failed` for what a caller gives, without keys, with each field's text in `details.fields`. There are two
// forms of its message. A body has many fields, and its problems come from a shape: `validationError` shows the first and counts
// the others. A call has few options, and its problems are written where they are found: `invalidFields` shows all.

/** A copy of a value of this shape; throws `validation_failed` with each mistake in `details.fields`. */
export function checkValue<Of extends Shape>(
  shape: Of,
  value: unknown,
  failure: string,
  notation: Notation,
): ValueOf<Of> {
  const { problems } = checkShape(shape, value, notation);
  if (problems.length > 0) throw validationError(failure, problems);
  // A copy, because the caller may change the original, which may be a proxy.
  return JSON.parse(JSON.stringify(value)) as ValueOf<Of>;
}

/** What an error tells of a problem. */
interface WordedProblem extends Pick<Problem, "field" | "message" | "hint"> {}

/** The error for the problems that a check against a shape finds. `failure` is a sentence: `Failed to start the server`. */
export function validationError(failure: string, problems: readonly WordedProblem[]): SandboxError {
  // A field can have several problems, such as the name and the value of a member.
  const textsByField = new Map<string, string>();
  for (const problem of problems) {
    const field = redactPlainKeys(problem.field.join(".")) || "body";
    const earlier = textsByField.get(field);
    const text = textOf(problem);
    textsByField.set(field, earlier === undefined ? text : `${earlier}; ${text}`);
  }

  // The message has the first problem, `details` have all.
  const [first] = problems;
  let message = `${failure}: ${first && textOf(first)}`;
  if (problems.length > 1) message += ` (and ${problems.length - 1} more)`;
  if (!message.endsWith("?")) message += ".";
  return new SandboxError("validation_failed", message, { fields: Object.fromEntries(textsByField) });
}

function textOf({ message, hint }: WordedProblem): string {
  return redactPlainKeys(hint === undefined ? message : `${message}: ${hint}`);
}

/** Throws `invalidFields` if a field has a problem; `undefined` is none. */
export function throwIfProblems(doing: string, problems: Readonly<Record<string, string | undefined>>): void {
  const wrong = Object.entries(problems).filter((entry): entry is [string, string] => entry[1] !== undefined);
  if (wrong.length > 0) throw invalidFields(doing, Object.fromEntries(wrong));
}

/** The error for fields with a problem each, by their names in JSON. `doing` is a verb: `start the server`. */
export function invalidFields(doing: string, problems: Readonly<Record<string, string>>): SandboxError {
  const texts = Object.entries(problems).map(([field, problem]) => `${field} ${problem}`);
  const message = `Failed to ${doing}: ${texts.join("; ")}.`;
  return new SandboxError("validation_failed", message, { fields: problems });
}

/** Throws `validation_failed` unless the options of a call are a mapping with known names only. */
export function requireKnownOptions(doing: string, options: unknown, known: readonly string[]): void {
  if (!isMapping(options)) {
    throw invalidFields(doing, { options: `are a mapping, { ${known[0]}: … }, not ${quote(options)}` });
  }

  const problems: [name: string, problem: string][] = [];
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = didYouMean(name, known);
    problems.push([
      redactPlainKeys(name),
      `is not an option.${meant} The options are ${listed(known, "and")}`,
    ]);
  }
  throwIfProblems(doing, Object.fromEntries(problems));
}
