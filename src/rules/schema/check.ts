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

/** `isExtra` is asked for each unknown member whether it is allowed. Default: none is. */
export function shapeProblems(
  shape: Shape,
  value: unknown,
  isExtra?: IsExtra,
  spelling: Spelling = notSpelled,
): Problem<ShapeCode>[] {
  const problems: Problem<ShapeCode>[] = [];
  const misspelled = new Set<string>();
  for (const mistake of mistakesIn(shape, value, isExtra, spelling)) {
    const problem = inWords(mistake, shape, spelling);
    problems.push(problem);
    if (problem.meant !== undefined) misspelled.add(pathText(problem.meant));
  }
  // A misspelled field is not also missing.
  return problems.filter(({ code, field }) => code !== "missing_field" || !misspelled.has(pathText(field)));
}

/** A copy of a value of this shape; throws `validation_failed` with each mistake in `details.fields`. */
export function checkValue<Of extends Shape>(shape: Of, value: unknown, failure: string): ValueOf<Of> {
  const problems = shapeProblems(shape, value);
  if (problems.length > 0) throw validationError(failure, problems);
  // A copy, because the caller may change the original, which may be a proxy.
  return JSON.parse(JSON.stringify(value)) as ValueOf<Of>;
}

interface Mismatch {
  /** As `limits.per_day`, empty for the whole value, and without a key. */
  readonly path: string;
  readonly expected: string;
  readonly value: unknown;
}

/** Finds the parts of a value that do not match its shape, but none inside a mismatched part. */
export function mismatchesIn(shape: Shape, whole: unknown): Mismatch[] {
  const mismatches: Mismatch[] = [];
  let mismatched: FieldPath | undefined;
  for (const mistake of mistakesIn(shape, whole)) {
    const { kind, path, value } = mistake;
    if (mismatched !== undefined && isInside(path, mismatched)) continue;
    if (kind === "value") mismatched = path;

    if (kind === "unknown") {
      const field = [...path.slice(0, -1), shownName(path)];
      mismatches.push({ path: pathText(field), expected: "no such member", value });
    } else {
      mismatches.push({ path: pathText(path), expected: expectedOf(mistake.shape), value });
    }
  }
  return mismatches;
}

function isInside(path: FieldPath, outer: FieldPath): boolean {
  return outer.length < path.length && outer.every((step, index) => step === path[index]);
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
  const problems: [field: string, problem: string][] = [];
  for (const { field, message, hint } of wrong) {
    const problem = hint === undefined ? message : `${message}: ${hint}`;
    problems.push([redactKeys(field.join(".")) || "body", redactKeys(problem)]);
  }

  let text = `${failure}: ${problems[0]?.[1]}`;
  if (problems.length > 1) text += ` (and ${problems.length - 1} more)`;
  if (!text.endsWith("?")) text += ".";
  return new SandboxError("validation_failed", text, { fields: Object.fromEntries(problems) });
}

/** Throws `validation_failed` with the invalid fields, by their names in JSON; `undefined` means valid. */
export function requireFields(doing: string, problems: Readonly<Record<string, string | undefined>>): void {
  const wrong = Object.entries(problems).filter(([, problem]) => problem !== undefined);
  if (wrong.length === 0) return;
  const texts = wrong.map(([field, problem]) => `${field} ${problem}`);
  const message = `Failed to ${doing}: ${texts.join("; ")}.`;
  throw new SandboxError("validation_failed", message, { fields: Object.fromEntries(wrong) });
}

export function requireKnownOptions(doing: string, options: unknown, known: readonly string[]): void {
  if (!isMapping(options)) {
    requireFields(doing, { options: `are a mapping, { ${known[0]}: … }, not ${quote(options)}` });
  }

  const problems: [name: string, problem: string][] = [];
  for (const name of Object.keys(options as object)) {
    if (known.includes(name)) continue;
    const meant = didYouMean(name, known);
    problems.push([redactKeys(name), `is not an option.${meant} The options are ${listed(known, "and")}`]);
  }
  requireFields(doing, Object.fromEntries(problems));
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
    else if (this.#startsWithZeros(value, path)) this.#add({ kind: "zeros", path, shape, value });
    if (isOfKind(shape, value)) this.#checkInside(shape, value, path);
  }

  // In other formats, such a number is octal, or a code.
  #startsWithZeros(value: unknown, path: FieldPath): boolean {
    return typeof value === "number" && /^[+-]?0\d/.test(this.#spelling(path) ?? "");
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
      if (member === undefined && "optional" in field) continue;
      this.check(shapeOf(field), member, [...path, name]);
    }
    if (shape.isOpen) return;

    const unknown: string[] = [];
    for (const name of Object.keys(members)) {
      if (!Object.hasOwn(shape.fields, name) && !this.#isExtra(name, members)) unknown.push(name);
    }
    const hasNoEffect = shape.needs?.every((name) => isUnset(shape, members[name]));
    // If a field is unknown, it is probably the needed one, misspelled.
    if (hasNoEffect && unknown.length === 0) this.#add({ kind: "empty", path, shape, value: members });
    for (const name of unknown) {
      this.#add({ kind: "unknown", path: [...path, name], shape, value: members[name], holder: members });
    }
  }

  #checkRecord(shape: RecordKind, members: Members, path: FieldPath): void {
    const shapeOfNames = shape.name;
    for (const [name, value] of Object.entries(members)) {
      const inner = [...path, name];
      if (shapeOfNames !== undefined && !isAllowed(shapeOfNames, name)) {
        this.#add({ kind: "name", path: inner, shape: shapeOfNames, value: name, holder: members });
      }
      this.check(shape.member, value, inner);
    }
  }
}

/** The option of the same kind; of several mappings, one that has a field of the value. */
function optionFor(options: readonly Shape[], value: unknown): Shape {
  const alike = options.filter((option) => isOfKind(option, value));
  for (const option of alike) {
    if (option.kind !== "mapping") continue;
    const { fields } = option;
    const names = Object.keys(value as Members);
    if (names.some((name) => Object.hasOwn(fields, name))) return option;
  }
  return alike[0] ?? (options[0] as Shape);
}

function isUnset(shape: MappingKind, member: unknown): boolean {
  return member === undefined || (shape.isOffByFalse === true && member === false);
}
