import { described, isMapping, mapParts, orNull, type Shape, text } from "./shape.js";

/** `undefined` for invalid JSON: the message of `JSON.parse` quotes the text, which may contain a key (R46). */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The most levels of a value from outside. Scenarios have up to seven. */
export const maxLevels = 64;

/** Whether a value from outside has more than `maxLevels` levels: functions that walk through a value use stack for each. */
export function isTooDeep(value: unknown, levels = maxLevels): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((member) => isTooDeep(member, levels - 1));
}

/** A JSON value as text, independent of the order of its members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(byName));
  });
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}

// Values spell their members in camelCase; YAML, HTTP and JSON use snake_case.

/** Plain data with its members spelled for JSON: `perMinute` as `per_minute`. */
export function snakeCase(value: unknown): unknown {
  return spellMembers(value, snake);
}

/** Plain data from JSON with its members spelled as in values: `per_minute` as `perMinute`. */
export function camelCase(value: unknown): unknown {
  return spellMembers(value, camelSpelling);
}

function spellMembers(value: unknown, spell: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => spellMembers(item, spell));
  if (!isMapping(value)) return value;

  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    // Headers have the names of a client or the API.
    const inner = name === "headers" ? member : spellMembers(member, spell);
    members.push([spell(name), inner]);
  }
  return Object.fromEntries(members);
}

function snake(name: string): string {
  if (!isMemberName(name)) return name;
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A name as values spell it: `perMinute`. */
export function camelSpelling(name: string): string {
  if (!isMemberName(name)) return name;
  return name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}

/** Whether a name is one of our members. Others, such as `Content-Type` and `200.getKeyUsage`, have one spelling. */
function isMemberName(name: string): boolean {
  return /^[a-z]\w*$/.test(name);
}

/** The type of a value in JSON: what `snakeCase` makes of it. */
export type InJson<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly InJson<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value as Name extends string ? Snake<Name> : never]: InJson<Value[Name]> }
      : Value;

/** `"perMinute"` as `"per_minute"`, letter by letter. */
type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

/** The shape of a value in JSON: its fields are spelled in snake_case. */
export function inJson(shape: Shape): Shape {
  return mapParts(shape, inJson, snake);
}

/**
 * The shape of a value in the JSON of this or another version. What differs between versions may be any text: names of
 * which there may be more, and times. Unlike with `inJson`, null is a kind of its own.
 */
export function inJsonOfAnyVersion(shape: Shape): Shape {
  if (shape.isNullable) {
    const { isNullable: _, description, ...notNull } = shape;
    return withDescription(orNull(inJsonOfAnyVersion(notNull as Shape)), description); // of the same kind
  }
  if (mayBeAnyText(shape)) return withDescription(text(), shape.description);
  return mapParts(shape, inJsonOfAnyVersion, snake);
}

function withDescription(shape: Shape, description: string | undefined): Shape {
  return description === undefined ? shape : described(shape, description);
}

function mayBeAnyText(shape: Shape): boolean {
  if (shape.kind === "choice") return shape.isGrowing === true;
  return shape.kind === "text" && shape.format !== undefined;
}

/** The JSON of a mapping in parts. The member `name` is written from its own parts, whatever its value is. */
export function* jsonWithParts<Whole extends object>(
  mapping: Whole,
  name: keyof Whole & string,
  parts: Iterable<string>,
): Generator<string> {
  yield "{";
  let separator = "";
  for (const [member, value] of Object.entries(mapping)) {
    const isInParts = member === name;
    // JSON has no such member.
    if (value === undefined && !isInParts) continue;

    yield `${separator}${JSON.stringify(member)}:`;
    if (isInParts) yield* parts;
    else yield JSON.stringify(value);
    separator = ",";
  }
  yield "}";
}
