import { checkShape } from "../schema/check.js";
import { type FieldPath, pathText } from "../schema/field-path.js";
import type { Notation } from "../schema/notation.js";
import type { Shape, ValueOf } from "../schema/shape.js";
import { isMapping } from "../schema/type-tag.js";
import { didYouMean, listed, quote } from "../schema/words.js";
import { SandboxError } from "./errors.js";
import { redact } from "./keys/redact.js";

// The error `validation_failed` for what a caller gives. `attempt` is what fails: `start the server`.

/** A copy of a value of this shape. Throws `validation_failed` for any other value. */
export function checkedCopy<Of extends Shape>(
  shape: Of,
  value: unknown,
  attempt: string,
  notation: Notation,
): ValueOf<Of> {
  const { problems } = checkShape(shape, value, notation);
  if (problems.length > 0) throw validationError(attempt, problems);
  // A copy, because the caller may change the original, which may be a proxy.
  return JSON.parse(JSON.stringify(value)) as ValueOf<Of>;
}

/** What is wrong with a field, in a sentence that starts with its name. */
interface WordedProblem {
  readonly field: FieldPath;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** The error for problems of fields: the message has the first one, and `details.fields` has all of them. */
export function validationError(attempt: string, problems: readonly WordedProblem[]): SandboxError {
  // A field can have several problems, such as the name and the value of a member.
  const textsByField = new Map<string, string>();
  for (const problem of problems) {
    const field = redact(pathText(problem.field)) || "body";
    const earlier = textsByField.get(field);
    const text = textOf(problem);
    textsByField.set(field, earlier === undefined ? text : `${earlier}; ${text}`);
  }

  const [first] = problems;
  let message = `Failed to ${attempt}: ${first && textOf(first)}`;
  if (problems.length > 1) message += ` (and ${problems.length - 1} more)`;
  if (!message.endsWith("?")) message += ".";
  return new SandboxError("validation_failed", message, { fields: Object.fromEntries(textsByField) });
}

function textOf({ message, hint }: WordedProblem): string {
  return hint === undefined ? message : `${message}: ${hint}`;
}

/** Throws `validation_failed` if one of these fields has a problem: what is behind its name in a sentence, or `undefined`. */
export function throwIfProblems(attempt: string, fields: Readonly<Record<string, string | undefined>>): void {
  const problems: WordedProblem[] = [];
  for (const [name, problem] of Object.entries(fields)) {
    if (problem !== undefined) problems.push({ field: [name], message: `${name} ${problem}` });
  }
  if (problems.length > 0) throw validationError(attempt, problems);
}

/** Throws `validation_failed` unless the options of a call are a mapping with known names only. */
export function requireKnownOptions(attempt: string, options: unknown, known: readonly string[]): void {
  if (!isMapping(options)) {
    const message = `options must be a mapping, such as { ${known[0]}: … }, not ${quote(options)}`;
    throw validationError(attempt, [{ field: ["options"], message }]);
  }

  const problems: Record<string, string> = {};
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const meant = didYouMean(name, known);
    problems[name] = `is not an option.${meant} The options are ${listed(known, "and")}`;
  }
  throwIfProblems(attempt, problems);
}
