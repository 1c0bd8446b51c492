import { SandboxError } from "../errors.js";
import { redactEncoded, redactKeys } from "../redact.js";
import { expectedOf, inWords } from "./messages.js";
import type { Members, Mistake, Problem, Spelling } from "./problem.js";
import {
  type FieldPath,
  isAllowed,
  isMapping,
  isOfKind,
  type MappingKind,
  pathText,
  type RecordKind,
  type Shape,
  type ShapeCode,
  shapeOf,
  type ValueOf,
} from "./shape.js";
import { didYouMean, listed, quote } from "./words.js";

/** `isExtra`: whether an unknown member is allowed. Default: none is. */
export function shapeProblems(
  shape: Shape,
  value: unknown,
  isExtra?: IsExtra,
  spelling: Spelling = notSpelled,
): Problem<ShapeCode>[] {
  const problems = mistakesIn(shape, value, isExtra, spelling).map((mistake) =>
    inWords(mistake, shape, spelling),
  );
  // A misspelled field is not also missing.
  const misspelled = new Set(problems.map(({ meant }) => meant && pathText(meant)));
  return problems.filter(({ code, field }) => code !== "missing_field" || !misspelled.has(pathText(field)));
}

/** A copy of a value of this shape; throws `validation_failed` with each mistake in `details.fields`. */
export function checkValue<Of extends Shape>(shape: Of, value: unknown, failure: string): ValueOf<Of> {
  const problems = shapeProblems(shape, value);
  if (problems.length > 0) throw validationError(failure, problems);
  // A copy, because the caller may change the original, which may be a proxy.
  return JSON.parse(JSON.stringify(value)) as ValueOf<Of>;
}

/**
 * Finds the parts of a value that do not match its shape, but none inside a mismatched part. Each has its path, as
 * `limits.per_day`, empty for the whole value, and without a key.
 */
export function mismatchesIn(
  shape: Shape,
  whole: unknown,
): { readonly path: string; readonly expected: string; readonly value: unknown }[] {
  let wrong: FieldPath | undefined;
  return mistakesIn(shape, whole).flatMap(({ kind, path, shape, value }) => {
    if (wrong !== undefined && wrong.length < path.length && wrong.every((step, at) => step === path[at]))
      return [];
    if (kind === "value") wrong = path;
    if (kind !== "unknown") return [{ path: pathText(path), expected: expectedOf(shape), value }];
    return [{ path: pathText([...path.slice(0, -1), shownName(path)]), expected: "no such member", value }];
  });
}

// A field name from a client may contain anything.
function shownName(path: FieldPath): string {
  const redacted = redactEncoded(String(path.at(-1)));
  return redacted.length > 60 ? `${redacted.slice(0, 60)}…` : redacted;
}

/** The error for an invalid value outside of scenarios, with each field's problem in `details.fields`. */
export function validationError(
  failure: string,
  wrong: readonly Pick<Problem, "field" | "message" | "hint">[],
): SandboxError {
  const problems = wrong.map(({ field, message, hint }) => [
    redactKeys(field.join(".")) || "body",
    redactKeys(hint === undefined ? message : `${message}: ${hint}`),
  ]);
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  const text = `${failure}: ${problems[0]?.[1]}${more}`;
  return new SandboxError("validation_failed", text.endsWith("?") ? text : `${text}.`, {
    fields: Object.fromEntries(problems),
  });
}

/** Throws `validation_failed` with the invalid fields, by their names in JSON; `undefined` means valid. */
export function requireFields(doing: string, problems: Readonly<Record<string, string | undefined>>): void {
  const wrong = Object.entries(problems).filter(([, problem]) => problem !== undefined);
  if (wrong.length === 0) return;
  throw new SandboxError(
    "validation_failed",
    `Failed to ${doing}: ${wrong.map(([field, problem]) => `${field} ${problem}`).join("; ")}.`,
    { fields: Object.fromEntries(wrong) },
  );
}

export function requireKnownOptions(doing: string, options: unknown, known: readonly string[]): void {
  if (!isMapping(options))
    requireFields(doing, { options: `are a mapping, { ${known[0]}: … }, not ${quote(options)}` });
  const unknown = Object.keys(options as object).filter((name) => !known.includes(name));
  const problem = (name: string) =>
    `is not an option.${didYouMean(name, known)} The options are ${listed(known, "and")}`;
  requireFields(doing, Object.fromEntries(unknown.map((name) => [redactKeys(name), problem(name)])));
}

type IsExtra = (name: string, members: Members) => boolean;

const notSpelled: Spelling = () => undefined;

/** More help nobody, and each takes time: a client may send a text full of them. */
export const maximumProblems = 100;

export function mistakesIn(
  root: Shape,
  whole: unknown,
  isExtra: IsExtra = () => false,
  spelling = notSpelled,
): Mistake[] {
  const shapeCheck = new ShapeCheck(isExtra, spelling);
  shapeCheck.check(root, whole, []);
  return shapeCheck.mistakes;
}

class ShapeCheck {
  readonly mistakes: Mistake[] = [];
  readonly #isExtra: IsExtra;
  readonly #spelling: Spelling;

  constructor(isExtra: IsExtra, spelling: Spelling) {
    this.#isExtra = isExtra;
    this.#spelling = spelling;
  }

  check(shape: Shape, value: unknown, path: FieldPath): void {
    if (this.mistakes.length >= maximumProblems || shape.kind === "anything") return;
    if (shape.isNullable && value === null) return;
    if (shape.kind === "either") {
      this.check(optionFor(shape.options, value), value, path);
      return;
    }
    if (value === undefined && path.length > 0) this.#add({ kind: "missing", path, shape, value });
    else if (!isAllowed(shape, value)) this.#add({ kind: "value", path, shape, value });
    // In other formats, such a number is octal, or a code.
    else if (typeof value === "number" && /^[+-]?0\d/.test(this.#spelling(path) ?? ""))
      this.#add({ kind: "zeros", path, shape, value });
    if (isOfKind(shape, value)) this.#checkInside(shape, value, path);
  }

  #add(mistake: Mistake): void {
    if (this.mistakes.length < maximumProblems) this.mistakes.push(mistake);
  }

  #checkInside(shape: Shape, value: unknown, path: FieldPath): void {
    if (shape.kind === "mapping") this.#checkMapping(shape, value as Members, path);
    if (shape.kind === "record") this.#checkRecord(shape, value as Members, path);
    if (shape.kind !== "list" || !Array.isArray(value)) return;
    for (const [index, item] of value.entries()) this.check(shape.item, item, [...path, index]);
  }

  #checkMapping(shape: MappingKind, members: Members, path: FieldPath): void {
    for (const [name, field] of Object.entries(shape.fields)) {
      const member = Object.hasOwn(members, name) ? members[name] : undefined;
      if (member !== undefined || !("optional" in field)) this.check(shapeOf(field), member, [...path, name]);
    }
    if (shape.isOpen) return;
    const unknown = Object.keys(members).filter(
      (name) => !Object.hasOwn(shape.fields, name) && !this.#isExtra(name, members),
    );
    // An unknown field is probably a misspelled one.
    const isEmpty = unknown.length === 0 && shape.needs?.every((name) => isUnset(shape, members[name]));
    if (isEmpty) this.#add({ kind: "empty", path, shape, value: members });
    for (const name of unknown)
      this.#add({ kind: "unknown", path: [...path, name], shape, value: members[name], holder: members });
  }

  #checkRecord({ name: shapeOfNames, member }: RecordKind, members: Members, path: FieldPath): void {
    for (const [name, value] of Object.entries(members)) {
      const inner = [...path, name];
      if (shapeOfNames !== undefined && !isAllowed(shapeOfNames, name))
        this.#add({ kind: "name", path: inner, shape: shapeOfNames, value: name, holder: members });
      this.check(member, value, inner);
    }
  }
}

/** The option of the same kind; of several mappings, one that has a field of the value. */
function optionFor(options: readonly Shape[], value: unknown): Shape {
  const alike = options.filter((option) => isOfKind(option, value));
  const hasField = (option: Shape) =>
    option.kind === "mapping" &&
    Object.keys(value as Members).some((name) => Object.hasOwn(option.fields, name));
  return alike.find(hasField) ?? alike[0] ?? (options[0] as Shape);
}

function isUnset({ isOffByFalse }: MappingKind, member: unknown): boolean {
  return member === undefined || (isOffByFalse === true && member === false);
}
