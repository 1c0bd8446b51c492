import type { Members, Mistake, Problem, Spelling } from "./problem.js";
import {
  type ChoiceKind,
  type FieldPath,
  fieldsOf,
  isAllowed,
  isMapping,
  type ListKind,
  type MappingKind,
  type RecordKind,
  type Shape,
  type ShapeCode,
  shapeOf,
  type TextKind,
} from "./shape.js";
import { fieldSpelling, meaningsOf, outdentedHint, unknownField } from "./unknown-field.js";
import { listed, nearest, quote } from "./words.js";

/** Makes the problem of a part; the message is the part's name and `what`. */
type Say = (code: ShapeCode, what: string, hint: string) => Problem<ShapeCode>;

/** Puts a mistake into words. */
export function inWords(mistake: Mistake, root: Shape, spelling: Spelling): Problem<ShapeCode> {
  const { kind, path, shape, value, holder } = mistake;
  const sayOf =
    (name: string): Say =>
    (code, what, hint) => ({ code, field: path, message: `${name} ${what}`, hint });
  switch (kind) {
    case "missing":
      return missingField(path, shape, root, sayOf);
    case "unknown":
      return unknownField(mistake, root);
    case "empty": {
      const hint = `add one of ${listed((shape as MappingKind).needs ?? [], "or")}`;
      return sayOf(labelOf(path))("missing_field", "has no effect", hint);
    }
    case "name":
      return wrongName(value as string, shape as TextKind, holder, sayOf(quote(value)));
    case "zeros": {
      const what = `must not start with zeros, as in ${spelling(path)}`;
      return sayOf(labelOf(path))("out_of_range", what, `write ${value}`);
    }
    case "value": {
      const isPlain = typeof value === "number" || typeof value === "boolean";
      const spelled = (isPlain && spelling(path)) || quote(value);
      return wrongValue(value, shape, spelled, sayOf(labelOf(path)));
    }
  }
}

function missingField(
  path: FieldPath,
  shape: Shape,
  root: Shape,
  sayOf: (name: string) => Say,
): Problem<ShapeCode> {
  const name = String(path.at(-1) ?? "");
  const where = path.length < 2 ? "" : ` in ${quote(labelOf(path.slice(0, -1)))}`;
  const choices = shape.kind === "choice" && shape.choices.length <= maxChoicesAdded ? shape.choices : [];
  const hint =
    outdentedHint(path, root) ??
    `add ${name}${choices.length > 0 ? `: ${listed(choices.map(String), "or")}` : ""}`;
  return { ...sayOf(name)("missing_field", `is missing${where}`, hint), pointAt: "key" };
}

// The name of a field; for an item of a list, the list's name and the position.
function labelOf(path: FieldPath): string {
  const last = path.at(-1);
  return typeof last === "number" ? `${path.at(-2) ?? ""}[${last}]` : (last ?? "body");
}

function wrongValue(value: unknown, shape: Shape, shown: string, say: Say): Problem<ShapeCode> {
  if (shape.kind === "choice") return wrongChoice(value, shape, shown, say);
  if (value === null) {
    const hint = `write a value or remove the line${shape.kind === "mapping" ? ", or write {}" : ""}`;
    return say("wrong_type", "is empty", hint);
  }
  if (shape.kind === "list" && Array.isArray(value)) return wrongLength(value.length, shape, say);
  if (shape.kind === "text") {
    // A number may only lack its unit.
    const isText = typeof value === "string" || (typeof value === "number" && shape.hint?.(String(value)));
    if (isText) return wrongText(String(value), shape, say);
  }
  const isQuoted = shape.kind === "number" && typeof value === "string" && /^\d+$/.test(value);
  return say(
    shape.kind === "number" && typeof value === "number" ? "out_of_range" : "wrong_type",
    `must be ${nounOf(shape, value)}, not ${typeof value === "string" ? "the text " : ""}${shown}`,
    `write ${isQuoted ? `${value} without quotes` : typeHint(value, shape, shown)}`,
  );
}

function typeHint(value: unknown, shape: Shape, shown: string): string {
  const isContainer = shape.kind === "mapping" || shape.kind === "record";
  const [, name] = (isContainer && typeof value === "string" && /^([\w-]+)\s*:\s*\S/.exec(value)) || [];
  const isName =
    name !== undefined && (shape.kind === "record" || Object.hasOwn(fieldsOf(shape) ?? {}, name));
  if (isName) return `${name}: … with an ordinary space after the colon`;
  switch (shape.kind) {
    case "number": {
      const percent = shape.max === 1 ? Number.parseFloat(String(value)) : 0;
      const isPercent = percent > 1 && percent <= 100;
      return isPercent ? `${percent / 100} for ${percent}%` : expectedOf(shape, value);
    }
    case "boolean":
      return "true or false, without quotes";
    case "list":
      return shape.item.kind === "mapping"
        ? "a list: a dash before each item"
        : `a list: [${itemsIn(value).join(", ") || "one, two"}]`;
    case "text":
      return /number|boolean/.test(typeof value) && isAllowed(shape, shown)
        ? `it in quotes: "${shown}"`
        : wantedText(shape);
    case "record":
      return recordHint(shape, value);
    default:
      return mappingHint(shape, value);
  }
}

/** Shows the value as the member that it can be: `{ per_minute: 60 }`. */
function mappingHint(shape: Shape, value: unknown): string {
  const fields = Object.entries(fieldsOf(shape) ?? {}).map(
    ([name, field]) => [name, shapeOf(field)] as const,
  );
  const fitting = fields.filter(([, of]) => isAllowed(of, value));
  const [fit, of] = fitting.find(([, of]) => of.kind === "choice") ?? fitting[0] ?? [];
  if (fit !== undefined) return `{ ${fit}: ${of?.kind === "text" ? JSON.stringify(value) : value} }`;
  const isFlag = fields.some(([name, { kind }]) => name === value && kind === "boolean");
  if (isFlag) return `{ ${value}: true }`;
  const [[first] = ["name"]] = fields;
  return `{ ${first}: … }`;
}

/** The plain items that somebody wrote without brackets: `a:read, b:read`. */
function itemsIn(value: unknown): string[] {
  const [, first = 1, last = 0] = /^(\d{1,4})-(\d{1,4})$/.exec(String(value)) ?? [];
  const count = Number(last) - Number(first) + 1;
  if (count > 0 && count < 20) return Array.from({ length: count }, (_, index) => `${Number(first) + index}`);
  const isPlain = typeof value === "number" || (typeof value === "string" && /^[\w:., -]+$/.test(value));
  return isPlain
    ? String(value)
        .split(/[\s,]+/)
        .filter(Boolean)
    : [];
}

/** Shows the first member of a list as a member of a record: `main: { environment: test }`. */
function recordHint({ member }: RecordKind, value: unknown): string {
  const first: unknown = Array.isArray(value) ? value[0] : undefined;
  const { name, ref = name }: Members = isMapping(first) ? first : {};
  const [needed] = Object.entries(fieldsOf(member) ?? {}).filter(([, field]) => !("optional" in field));
  const choices = needed && shapeOf(needed[1]);
  const chosen = choices?.kind === "choice" ? choices.choices[0] : "…";
  const word =
    typeof ref === "string" && /^[\w -]{1,40}$/.test(ref) ? fieldSpelling(ref).replaceAll("_", "-") : "name";
  return `${word}: ${needed === undefined ? "…" : `{ ${needed[0]}: ${chosen} }`}`;
}

const maxChoicesAdded = 8;
const maxChoicesShown = 15;

function wrongChoice(value: unknown, shape: ChoiceKind, shown: string, say: Say): Problem<ShapeCode> {
  const choices = shape.choices.map(String);
  const wanted = choices.length > maxChoicesShown ? "one of its choices" : listed(choices, "or");
  const what = value === null ? "is empty" : `must be ${wanted}, not ${shown}`;
  return say(shape.code, what, choiceHint(value, shape, choices));
}

function choiceHint(value: unknown, { choices: allowed, hint }: ChoiceKind, choices: string[]): string {
  if (typeof value === "string" && allowed.includes(Number(value.trim()))) {
    const number = String(Number(value.trim()));
    return `write ${number}${number === value.trim() ? " without quotes" : ""}`;
  }
  const ofShape = hint?.(value);
  if (ofShape !== undefined) return ofShape;
  const typed = String(value).toLowerCase();
  // A similar number is not more likely to be the intended one.
  const near = allowed.every((one) => typeof one === "number") ? undefined : nearest(typed, choices);
  // Parts of `401.revoked`.
  const [ofStatus, ofCause] = [choices.filter((id) => id.startsWith(`${typed}.`)), `.${typed}`];
  const meant =
    meaningsOf(typed).find((one) => choices.includes(one)) ??
    ofStatus[0] ??
    choices.find((id) => id.endsWith(ofCause)) ??
    near;
  if (meant === undefined) return `write ${listed(choices, "or")}`;
  const others = ofStatus.length > 1 ? ` The choices are ${listed(ofStatus, "or")}` : "";
  return `did you mean ${meant}?${others}`;
}

function wrongLength(length: number, { max }: ListKind, say: Say): Problem<ShapeCode> {
  if (length === 0) return say("empty_list", "is an empty list", "add an entry or remove the field");
  return say("out_of_range", `is too long: ${length} entries`, `list at most ${max}`);
}

function wrongText(value: string, shape: TextKind, say: Say): Problem<ShapeCode> {
  return say(textCode(shape), `must be ${nounOf(shape)}, not ${quote(value)}`, textHint(value, shape));
}

/** The problem of a name in a record, which the message starts with. */
function wrongName(
  name: string,
  shape: TextKind,
  siblings: Members | undefined,
  say: Say,
): Problem<ShapeCode> {
  const problem = say(textCode(shape), `is not ${nounOf(shape)}`, textHint(name, shape, siblings));
  return { ...problem, pointAt: "key" };
}

function textCode({ code, noun, max }: TextKind): ShapeCode {
  return code ?? (noun === undefined && max !== undefined ? "out_of_range" : "bad_format");
}

function textHint(value: string, shape: TextKind, siblings: Members = {}): string {
  const { pattern, hint } = shape;
  if (/[\r\n]/.test(value) && pattern !== undefined)
    return "write one line; a block starts with >- or |-, which leave out the line end";
  return hint?.(value, siblings) ?? `write ${wantedText(shape)}`;
}

function wantedText(shape: TextKind): string {
  return shape.example === undefined ? nounOf(shape) : `a value such as ${shape.example}`;
}

function nounOf(shape: Shape, value?: unknown): string {
  return (shape.kind === "text" ? shape.noun : undefined) ?? expectedOf(shape, value);
}

/** Describes what this shape requires instead of a value, for readers of JSON: `a string of 1 to 200 characters`. */
export function expectedOf(shape: Shape, value?: unknown): string {
  switch (shape.kind) {
    case "choice":
      return shape.choices.map((one) => JSON.stringify(one)).join(" or ");
    case "number": {
      const { isWhole, min } = shape;
      // JSON has larger integers, but not exactly.
      const isTooLarge = isWhole && Number(value) > Number.MAX_SAFE_INTEGER;
      const max = shape.max ?? (isTooLarge ? Number.MAX_SAFE_INTEGER : undefined);
      const noun = isWhole ? "an integer" : "a number";
      return max === undefined
        ? noun + ofAtLeast(min)
        : `${noun} from ${min ?? "any"} to ${max.toLocaleString("en")}`;
    }
    case "list":
      return `a list${ofAtLeast(shape.min)}`;
    case "text":
      if (shape.format === "uuid") return "a UUID";
      return shape.max === undefined
        ? "a string"
        : `a string of ${shape.min ?? 0} to ${shape.max} characters`;
    case "boolean":
      return "a boolean";
    default:
      return "a mapping";
  }
}

function ofAtLeast(min: number | undefined): string {
  return min === undefined ? "" : ` of at least ${min}`;
}
