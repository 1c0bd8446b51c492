import { SandboxError } from "../domain/errors.js";
import { redactKeys } from "../domain/redact.js";
import { type Diagnostic, expectedOf, inWords } from "./messages.js";
import { mistakesIn } from "./mistakes.js";
import { type Path, pathText, type Shape, type ValueOf } from "./shape.js";

/** Finds everything that is wrong with a value, in words. */
export function shapeProblems(shape: Shape, value: unknown): Diagnostic[] {
  const found = mistakesIn(shape, value).map(inWords);
  // A field that is only misspelt is not missing as well.
  const suggested = new Set(found.map(({ suggestion }) => suggestion && pathText(suggestion)));
  return found.filter(({ code, path }) => code !== "missing_field" || !suggested.has(pathText(path)));
}

/** A copy of a value of this shape; throws `validation_failed` with each mistake in `details.fields`. */
export function checkValue<Of extends Shape>(
  shape: Of,
  value: unknown,
  failure = "The body is not valid",
): ValueOf<Of> {
  const problems = shapeProblems(shape, value);
  if (problems.length > 0) throw validationError(failure, problems);
  // A copy, since the caller may change its own; plain data by now, also where it came in a proxy.
  return JSON.parse(JSON.stringify(value)) as ValueOf<Of>;
}

/** A part of JSON that is not as its shape says. */
export interface Mismatch {
  /** Of the part: `limits.per_day`, `scopes[0]`; empty for the whole value. Holds no key. */
  readonly path: string;
  readonly expected: string;
  /** The part; `undefined` when it is missing. */
  readonly value: unknown;
}

/** Finds the parts of a value that are not as its shape says; nothing inside a part that is wrong as a whole. */
export function mismatchesIn(shape: Shape, whole: unknown): Mismatch[] {
  let wrong: Path | undefined;
  return mistakesIn(shape, whole).flatMap(({ kind, path, shape, value }) => {
    if (wrong !== undefined && wrong.length < path.length && wrong.every((step, at) => step === path[at]))
      return [];
    if (kind === "value") wrong = path;
    if (kind !== "unknown") return [{ path: pathText(path), expected: expectedOf(shape), value }];
    return [{ path: pathText([...path.slice(0, -1), shownName(path)]), expected: "no such member", value }];
  });
}

// A field that a client made up may have any name.
function shownName(path: Path): string {
  const redacted = redactKeys(String(path.at(-1)));
  return redacted.length > 60 ? `${redacted.slice(0, 60)}…` : redacted;
}

/** The refusal of a value that is not from a scenario, with what is wrong with each field in `details.fields`. */
export function validationError(
  failure: string,
  diagnostics: readonly Pick<Diagnostic, "path" | "message" | "hint">[],
): SandboxError {
  const problems = diagnostics.map(({ path, message, hint }) => [
    redactKeys(path.join(".")) || "body",
    redactKeys(hint === undefined ? message : `${message}: ${hint}`),
  ]);
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new SandboxError("validation_failed", `${failure}: ${problems[0]?.[1]}${more}.`, {
    fields: Object.fromEntries(problems),
  });
}
