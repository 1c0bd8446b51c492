import { described, isMapping, mapFields, orNull, type Shape, text } from "./shape.js";

/** `undefined` for invalid JSON: the message of `JSON.parse` quotes the text, which may contain a key (R46). */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Scenarios have up to seven levels.
export const maxLevels = 64;

/** Whether a value from outside has more than `maxLevels` levels: functions that walk through a value use stack for each. */
export function isTooDeep(value: unknown, levels = maxLevels): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
}

/** A JSON value as text, independent of the order of its members. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_name, member) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

// Values spell their members in camelCase; YAML, HTTP and JSON use snake_case.

// Other names, such as `Content-Type` and `200.getKeyUsage`, are not members: they stay.
const isMember = (name: string) => /^[a-z]\w*$/.test(name);
const snake = (name: string) =>
  isMember(name) ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : name;
const camel = (name: string) =>
  isMember(name) ? name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()) : name;

/** Plain data with its members spelled for JSON: `perMinute` as `per_minute`. */
export function snakeCase(value: unknown): unknown {
  return respelled(value, snake);
}

export function camelCase(value: unknown): unknown {
  return respelled(value, camel);
}

function respelled(value: unknown, spell: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item) => respelled(item, spell));
  if (!isMapping(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    spell(name),
    // Headers have the names of a client or the API.
    name === "headers" ? member : respelled(member, spell),
  ]);
  return Object.fromEntries(members);
}

export type InJson<Value> = Value extends string | number | boolean | null | undefined
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly InJson<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value as Name extends string ? Snake<Name> : never]: InJson<Value[Name]> }
      : Value;

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : Name;

export function inJson(shape: Shape): Shape {
  return shape.isAsSpelled ? shape : mapFields(shape, inJson, snake);
}

/** The shape of the JSON of this or another version: names that may increase are any text, as times are. */
export function inJsonOfAnyVersion(shape: Shape): Shape {
  const isFree = shape.kind === "choice" ? shape.isGrowing : shape.kind === "text" && shape.format;
  const { isNullable, description, ...plain } = shape;
  const withDescription = (of: Shape) => (description === undefined ? of : described(of, description));
  if (isNullable) return withDescription(orNull(inJsonOfAnyVersion(plain as Shape)));
  if (isFree) return withDescription(text());
  return mapFields(shape, inJsonOfAnyVersion, shape.isAsSpelled ? (name) => name : snake);
}
