import type { Problem } from "../schema/check.js";
import { checkShape } from "../schema/check.js";
import { jsonNotation, type Notation, partName } from "../schema/describe.js";
import { type FieldPath, pathText, type Shape, type ValueOf } from "../schema/shape.js";
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
  if (problems.length > 0) throw validationError(attempt, problems, notation);
  // A copy, because the caller may change the original, which may be a proxy.
  return JSON.parse(JSON.stringify(value)) as ValueOf<Of>;
}

/**
 * The error for problems of fields: the message has the first one, and `details.fields` has all of them, as the caller spells them. The
 * message of each is a sentence that starts with the name of its field.
 */
export function validationError(
  attempt: string,
  problems: readonly Omit<Problem, "code">[],
  { spell, nameOfWhole }: Notation = jsonNotation,
): SandboxError {
  // A field can have several problems, such as the name and the value of a member.
  const textsByField = new Map<string, string>();
  let firstText: string | undefined;
  for (const problem of problems) {
    const path = problem.field.map((step) => (typeof step === "string" ? spell(step) : step));
    const field = redact(pathText(path)) || nameOfWhole;
    const earlier = textsByField.get(field);
    const { message: whatIsWrong, hint } = problem;
    const text = hint === undefined ? whatIsWrong : `${whatIsWrong}: ${hint}`;
    firstText ??= text;
    textsByField.set(field, earlier === undefined ? text : `${earlier}; ${text}`);
  }

  let message = `Failed to ${attempt}: ${firstText}`;
  if (problems.length > 1) message += ` (and ${problems.length - 1} more)`;
  if (!message.endsWith("?")) message += ".";
  return new SandboxError("validation_failed", message, { fields: Object.fromEntries(textsByField) });
}

/**
 * Checks an input of an operation. An API key in it is also a mistake, because names and codes are shown (R46). `attempt` is what
 * fails then: `create a key`.
 */
export function checkInput<Of extends Shape>(
  shape: Of,
  value: unknown,
  attempt: string,
  notation: Notation,
): ValueOf<Of> {
  const input = checkedCopy(shape, value, attempt, notation);
  // In the checked copy: the caller's value may have getters, and change.
  const leaks = leakedKeys(input, [], notation);
  if (leaks.length > 0) throw validationError(attempt, leaks, notation);
  return input as ValueOf<Of>;
}

/** The fields of an input that contain an API key, as a value or as a name. */
function leakedKeys(
  value: unknown,
  field: FieldPath,
  notation: Notation,
): Pick<Problem, "field" | "message">[] {
  if (typeof value === "string") {
    if (redact(value) === value) return [];
    return [{ field, message: `${partName(field, notation)} must not contain an API key` }];
  }
  if (typeof value !== "object" || value === null) return [];

  const leaks: Pick<Problem, "field" | "message">[] = [];
  for (const [name, member] of Object.entries(value)) {
    // A scenario may pin its keys, and has its own checks.
    if (field.length === 0 && name === "scenario") continue;
    if (redact(name) !== name) {
      leaks.push({ field, message: `a name in ${partName(field, notation)} must not contain an API key` });
      continue;
    }
    const step = Array.isArray(value) ? Number(name) : name;
    leaks.push(...leakedKeys(member, [...field, step], notation));
  }
  return leaks;
}

/** Throws `validation_failed` if one of these fields has a problem: what is behind its name in a sentence, or `undefined`. */
export function throwIfProblems(attempt: string, fields: Readonly<Record<string, string | undefined>>): void {
  const problems: Omit<Problem, "code">[] = [];
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
