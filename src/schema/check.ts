import { type FieldPath, pathText } from "./field-path.js";
import { findMistakes, isAllowed, isOfKind } from "./find-mistakes.js";
import { jsonNotation, type Notation, writeChoices, writeName, writeValue } from "./notation.js";
import type { Members, Mistake, Problem } from "./problem.js";
import {
  fieldsOf,
  type MappingKind,
  type Range,
  type Shape,
  type ShapeCode,
  settableNames,
  shapeOfField,
} from "./shape.js";
import { listed, nearest, quote } from "./words.js";

/** Checks a value: its problems in the words of the caller, and the members that it has besides its shape and that are allowed. */
export function checkShape(
  shape: Shape,
  value: unknown,
  notation: Notation = jsonNotation,
  isExtension?: (name: string) => boolean,
) {
  const { mistakes, extensionFields } = findMistakes(shape, value, isExtension);
  const explained = explainedFields(mistakes, notation);
  const problems: Problem<ShapeCode>[] = [];
  for (const mistake of mistakes) {
    // The hint of an unknown field names it already.
    const isWithoutValue = mistake.value === undefined || mistake.value === null;
    if (isWithoutValue && mistake.kind !== "unknown" && explained.has(pathText(mistake.path))) continue;
    problems.push(describeMistake(mistake, notation));
  }
  return { problems, extensionFields };
}

/** The fields that unknown ones mean: those that they misspell, and in YAML those without a value that they belong to. */
function explainedFields(mistakes: readonly Mistake[], { language }: Notation): ReadonlySet<string> {
  const fields = new Set<string>();
  for (const mistake of mistakes) {
    if (mistake.kind !== "unknown") continue;
    const { path, shape, members } = mistake;
    let explained = meantField(path, shape, members);
    if (language === "yaml") explained = emptyOwner(mistake) ?? explained;
    if (explained !== undefined) fields.add(pathText([...path.slice(0, -1), explained]));
  }
  return fields;
}

/** A part of a value from outside that does not have its shape. */
interface Mismatch {
  readonly kind: "wrong_part" | "unknown_member";
  /** As `limits.per_day`, empty for the whole value. */
  readonly path: string;
  readonly expected: string;
  readonly value: unknown;
}

/** More characters of a member's name are not shown. */
const longestShownName = 60;

/** Finds the parts of a value that do not match its shape, but none inside a mismatched part. */
export function findMismatches(
  shape: Shape,
  whole: unknown,
  redact: (text: string) => string = String,
): Mismatch[] {
  // The name of a member from outside may contain anything.
  const safeStep = (step: string | number) => {
    if (typeof step === "number") return step;
    const name = redact(step);
    return name.length > longestShownName ? `${name.slice(0, longestShownName)}…` : name;
  };

  const mismatches: Mismatch[] = [];
  /** The last part that has a wrong value: a mistake inside it comes later, and says nothing more. */
  let wrongPart: FieldPath | undefined;
  for (const mistake of findMistakes(shape, whole).mistakes) {
    const { kind, path, value } = mistake;
    const outer = wrongPart;
    const isInside = outer !== undefined && outer.length < path.length;
    if (isInside && outer.every((step, index) => step === path[index])) continue;
    if (kind === "value") wrongPart = path;

    const shownField = pathText(path.map(safeStep));
    if (kind === "unknown") {
      mismatches.push({ kind: "unknown_member", path: shownField, expected: "no such member", value });
    } else {
      const expected = describeShape(mistake.shape);
      mismatches.push({ kind: "wrong_part", path: shownField, expected, value });
    }
  }
  return mismatches;
}

// What is wrong with a value, and what to write in its place: what the value probably means, or else what is allowed. The
// message says in words what is allowed (`wrongValue`), the hint as the caller writes it (`allowedHint`):
//
//   message  live_access must be not_approved, approved or suspended, not 5
//   hint     write not_approved, approved or suspended        in YAML
//            write "not_approved", "approved" or "suspended"  in JSON

/** The most choices that a message lists. Its hint lists all of them. */
const maxChoicesShown = 15;

function describeMistake(mistake: Mistake, notation: Notation): Problem<ShapeCode> {
  const { path, shape } = mistake;
  const part = partName(path, notation);
  switch (mistake.kind) {
    case "missing": {
      const where = path.length < 2 ? "" : ` in ${quote(partName(path.slice(0, -1), notation))}`;
      let hint = `add ${writeName(String(path.at(-1)), notation)}`;
      if (shape.kind === "choice") hint += `: ${writeChoices(shape.choices, notation)}`;
      const message = `${part} is missing${where}`;
      return { code: "missing_field", field: path, message, hint, pointAt: "name" };
    }
    case "unknown": {
      const around = path
        .slice(0, -1)
        .map((step) => (typeof step === "string" ? notation.spell(step) : step));
      const place = around.length === 0 ? "at the top level" : `in ${pathText(around)}`;
      const meant = meantField(path, shape, mistake.members);
      const owner = emptyOwner(mistake);
      let hint = `known fields here: ${knownFields(shape, notation)}`;
      const choice = choiceMeantBy(String(path.at(-1)), mistake.value, mistake.shape);
      if (notation.language === "yaml" && owner !== undefined) hint = `indent it: it belongs to ${owner}`;
      else if (choice !== undefined) {
        hint = `write ${writeName(choice.field, notation)}: ${writeValue(choice.value, notation)}`;
      } else if (meant !== undefined) hint = `did you mean ${quote(notation.spell(meant))}?`;
      const message = `unknown field ${quote(String(path.at(-1)))} ${place}`;
      return { code: "unknown_field", field: path, message, hint, pointAt: "name" };
    }
    case "empty": {
      const hint = `add one of ${listed(mistake.neededFields.map(notation.spell), "or")}`;
      return { code: "missing_field", field: path, message: `${part} has no effect`, hint };
    }
    case "name": {
      const { value: name } = mistake;
      const message = `${quote(name)} is not ${describeShape(shape)}`;
      const hint = mistake.shape.hint?.(name) ?? allowedHint(shape, notation);
      return { code: codeOfValue(shape, name), field: path, message, hint, pointAt: "name" };
    }
    case "value":
      return wrongValue(path, shape, mistake.value, notation);
  }
}

/** The name of a field; of an item, the name and position: `scopes[1]`. */
function partName(path: FieldPath, { nameOfWhole, spell }: Notation): string {
  const last = path.at(-1);
  if (last === undefined) return nameOfWhole;
  if (typeof last === "number") return `${spell(String(path.at(-2) ?? ""))}[${last}]`;
  return spell(last);
}

/** The field that an unknown one probably is, if its mapping does not have it already. */
function meantField(path: FieldPath, shape: Shape, members: Members): string | undefined {
  const meant = nearest(String(path.at(-1)), settableNames(shape));
  return meant === undefined || Object.hasOwn(members, meant) ? undefined : meant;
}

/** The choice that a flag with its name means: `state: expired` of `expired: true`. */
function choiceMeantBy(name: string, flag: unknown, { fields }: MappingKind) {
  if (flag !== true && flag !== "yes") return undefined;
  for (const [field, written] of Object.entries(fields)) {
    const shape = shapeOfField(written);
    if (shape.kind === "choice" && shape.choices.includes(name)) return { field, value: name };
  }
  return undefined;
}

/** The field without a value to which an unknown field below it probably belongs: `request` of `key`, which is not indented. */
function emptyOwner({ path, shape, members }: Mistake & { readonly kind: "unknown" }) {
  const unknownName = String(path.at(-1));
  let owner: string | undefined;
  for (const [name, value] of Object.entries(members)) {
    if (name === unknownName) break;
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    if (value !== null || field === undefined) continue;

    const fieldShape = shapeOfField(field);
    const hasIt = Object.hasOwn(fieldsOf(fieldShape) ?? {}, unknownName);
    const mayHaveIt = fieldShape.kind === "record" && isOfKind(fieldShape.member, members[unknownName]);
    if (hasIt || mayHaveIt) owner = name;
  }
  return owner;
}

function knownFields(shape: Shape, notation: Notation): string {
  return listed(settableNames(shape).map(notation.spell), "and") || "none";
}

function wrongValue(path: FieldPath, shape: Shape, value: unknown, notation: Notation): Problem<ShapeCode> {
  const part = partName(path, notation);
  if (shape.kind === "list" && Array.isArray(value)) return wrongLength(path, part, shape, value.length);

  const code = codeOfValue(shape, value);
  if (shape.kind === "text" && shape.isSecret) {
    const message = `${part} must be ${describeShape(shape)}`;
    return { code, field: path, message, hint: "write one line of text, in quotes" };
  }

  // Choices are without quotes, which `describeShape` gives them for a response.
  let expected = describeShape(shape);
  if (shape.kind === "choice") {
    expected = listed(shape.choices.map(String), "or");
    if (shape.choices.length > maxChoicesShown) expected = "one of its choices";
  }
  let message = `${part} must be ${expected}, not ${quote(value)}`;
  if (value === null) message = `${part} is empty`;
  const isNumber = shape.kind === "number" && typeof value === "number";
  if (isNumber && value > Number.MAX_SAFE_INTEGER) message = `${part} is too large: ${quote(value)}`;
  const hint = hintForMeant(shape, value, notation) ?? allowedHint(shape, notation);
  return { code, field: path, message, hint };
}

function wrongLength(
  field: FieldPath,
  part: string,
  { min = 0, max }: Range,
  length: number,
): Problem<ShapeCode> {
  if (length === 0) {
    return { code: "empty_list", field, message: `${part} is an empty list`, hint: "add an entry" };
  }
  const entries = length === 1 ? "1 entry" : `${length} entries`;
  const [extent, hint] = length < min ? ["short", `list at least ${min}`] : ["long", `list at most ${max}`];
  return { code: "out_of_range", field, message: `${part} is too ${extent}: ${entries}`, hint };
}

function codeOfValue(shape: Shape, value: unknown): ShapeCode {
  if (shape.kind === "choice") return shape.code;
  if (shape.kind === "text" && typeof value === "string") return shape.code ?? "bad_format";
  const isOutOfRange = shape.kind === "number" && typeof value === "number";
  return isOutOfRange ? "out_of_range" : "wrong_type";
}

/**
 * The hint for a wrong value that is a habit from another format or API; `undefined` if nothing shows what it means. Such a hint
 * mends the value as it is written there; `test/support/apply-hint.ts` lists the hints, each with its habit.
 */
function hintForMeant(shape: Shape, value: unknown, notation: Notation): string | undefined {
  // ${SEED}, as tools that replace variables in their files have it.
  if (isPlaceholder(value)) return "variables are not replaced here: write the value";

  // "503" for 503.
  if (typeof value === "string" && /^\s*\d+(?:\.\d+)?\s*$/.test(value) && isAllowed(shape, Number(value))) {
    return `write ${Number(value)} without quotes`;
  }

  // 90 for 90s or 90m, which the shape knows. The hint of a text reads texts: a number may be one that lacks its quotes or its unit.
  const isWord = typeof value === "string" || typeof value === "number";
  let hintOfShape: string | undefined;
  if (shape.kind === "choice" && isWord) hintOfShape = shape.hint?.(value);
  if (shape.kind === "text" && isWord) hintOfShape = shape.hint?.(String(value));
  if (hintOfShape !== undefined) return hintOfShape;

  // bnk for bank. A similar number is not more likely to be the intended one.
  // The only item of a list is meant for the list.
  const word: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (shape.kind === "choice" && typeof word !== "object" && typeof shape.choices[0] !== "number") {
    const meant = nearest(String(word), shape.choices.map(String));
    return meant === undefined ? undefined : `did you mean ${meant}?`;
  }

  // 2024 for "2024".
  const canBeQuoted = typeof value === "number" || typeof value === "boolean";
  if (shape.kind === "text" && canBeQuoted && isAllowed(shape, String(value))) return "write it in quotes";

  return hintForParts(shape, value, notation);
}

/** The hint for a value that is a habit, in place of a list or a mapping. */
function hintForParts(shape: Shape, value: unknown, notation: Notation): string | undefined {
  // `type bank` for `type: bank`, if it is the only line of its mapping.
  if (shape.kind === "mapping" && typeof value === "string") {
    const [, name = "", rest = ""] = /^([\w-]+) +(\S+)$/.exec(value) ?? [];
    return settableNames(shape).includes(name) ? `write ${writeName(name, notation)}: ${rest}` : undefined;
  }

  // attestations:read for [attestations:read], as OAuth has its scopes in a text.
  if (shape.kind !== "list" || typeof value === "object") return undefined;
  const { item } = shape;
  const items = typeof value === "string" ? value.split(/[\s,]+/) : [value];
  const areItems = items.every((part) => isAllowed(item, part));
  return areItems ? `write a list: ${writeValue(items, notation)}` : undefined;
}

/** Whether a value stands for another one in other tools: `${SEED}`, `$SEED`, `{{ seed }}`, `%SEED%`. */
export function isPlaceholder(value: unknown): boolean {
  return typeof value === "string" && /^(?:\$\{.*\}|\$[A-Za-z_]\w*|\{\{.*\}\}|%\w+%)$/.test(value.trim());
}

/** What may be written in place of a value, in the caller's notation. */
function allowedHint(shape: Shape, notation: Notation): string {
  switch (shape.kind) {
    case "choice":
      return `write ${writeChoices(shape.choices, notation)}`;
    case "boolean":
      return "write true or false, without quotes";
    case "text":
      return `write ${shape.example === undefined ? describeShape(shape) : `a value such as ${shape.example}`}`;
    case "record":
      return `write { ${writeName("my-name", notation)}: … }`;
    case "mapping":
      return `write a mapping; its fields are ${knownFields(shape, notation)}`;
    default:
      return `write ${describeShape(shape)}`;
  }
}

/** What a shape allows, in words, with choices as in JSON: `a string of 1 to 200 characters`, `"bank" or "insurer"`. */
function describeShape(shape: Shape): string {
  switch (shape.kind) {
    case "choice": {
      const choices = shape.choices.map((choice) => JSON.stringify(choice));
      return listed(choices, "or");
    }
    case "number": {
      const { min, max } = shape;
      const noun = shape.isWhole ? "an integer" : "a number";
      if (min === undefined || max === undefined) return noun + rangeWords(shape);
      return `${noun} from ${min} to ${max.toLocaleString("en")}`;
    }
    case "list":
      return `a list${rangeWords(shape)}`;
    case "text": {
      const { noun, format, min = 0, max } = shape;
      if (noun !== undefined) return noun;
      if (format === "uuid") return "a UUID";
      return max === undefined ? "a string" : `a string of ${min} to ${max} characters`;
    }
    case "boolean":
      return "a boolean";
    case "null":
      return "null";
    case "anything":
      return "any value";
    case "either":
      return listed(shape.options.map(describeShape), "or");
    case "mapping":
    case "record":
      return "a mapping";
  }
}

/** ` of 1 to 3`, ` of at least 1`, ` of at most 3`; empty without a limit. */
function rangeWords({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return ` of ${min} to ${max.toLocaleString("en")}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? "" : ` of at most ${max.toLocaleString("en")}`;
}
