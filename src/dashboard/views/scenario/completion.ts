import { item, keysOf, placeAt, type Step, type YamlPlace } from "./yaml-place.js";

/** The members of a JSON Schema that completion reads. */
export interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly doNotSuggest?: boolean;
}

/** A possible text at a place. */
export interface Suggestion {
  readonly label: string;
  readonly kind: "key" | "value" | "ref";
  readonly detail?: string;
  readonly info?: string;
  /** Written instead of the label. */
  readonly text: string;
}

export interface Suggestions {
  readonly from: number;
  readonly options: readonly Suggestion[];
}

/** Suggestions for an offset, from the schema and the refs in the text. */
export function suggest(schema: Schema, text: string, offset: number): Suggestions | undefined {
  const place = placeAt(text, offset);
  if (place === undefined) return undefined;
  const here = schemasAt(schema, place.path);
  const isItem = place.path.at(-1) === item;
  const options =
    place.writes === "key"
      ? [
          ...keysIn(here, place, indentAt(text, place.from)),
          ...(isItem ? valuesOf(here, place.path, text) : []),
        ]
      : valuesOf(here, place.path, text);
  return options.length === 0 ? undefined : { from: place.from, options };
}

/** The description of the key at an offset. */
export function describeAt(schema: Schema, text: string, offset: number): string | undefined {
  const rest = /^[\w-]*:/.exec(text.slice(offset, offset + 200));
  const place = rest === null ? undefined : placeAt(text, offset + rest[0].length - 1);
  if (place === undefined || place.writes !== "key" || rest === null) return undefined;
  const name = text.slice(place.from, offset + rest[0].length - 1);
  return schemasAt(schema, [...place.path, name])[0]?.description;
}

function schemasAt(schema: Schema, path: readonly Step[]): readonly Schema[] {
  let here = alternatives(schema);
  for (const step of path) here = here.flatMap((one) => below(one, step)).flatMap(alternatives);
  return here;
}

function alternatives(schema: Schema): readonly Schema[] {
  return schema.anyOf === undefined ? [schema] : [schema, ...schema.anyOf.flatMap(alternatives)];
}

function below({ items, properties, additionalProperties: others }: Schema, step: Step): readonly Schema[] {
  if (step === item) return items === undefined ? [] : [items];
  const found = Object.hasOwn(properties ?? {}, step) ? properties?.[step] : undefined;
  if (found !== undefined) return [found];
  return typeof others === "object" ? [others] : [];
}

function indentAt(text: string, offset: number): number {
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

function keysIn(schemas: readonly Schema[], { siblings, isFlow }: YamlPlace, column: number): Suggestion[] {
  return schemas
    .flatMap(({ properties = {} }) => Object.entries(properties))
    .filter(([name, { doNotSuggest }]) => !siblings.includes(name) && doNotSuggest !== true)
    .map(([name, { type, description }]) => ({
      label: name,
      kind: "key" as const,
      text: `${name}:${valueStart(type, isFlow, column)}`,
      ...(type !== undefined && { detail: type }),
      ...(description !== undefined && { info: description }),
    }));
}

function valueStart(type: string | undefined, isFlow: boolean, column: number): string {
  const indent = " ".repeat(column + 2);
  if (isFlow || (type !== "object" && type !== "array")) return " ";
  return type === "object" ? `\n${indent}` : `\n${indent}- `;
}

function valuesOf(schemas: readonly Schema[], path: readonly Step[], text: string): Suggestion[] {
  const values = schemas.flatMap(({ enum: all, type }) => all ?? (type === "boolean" ? [true, false] : []));
  const info = schemas.find(({ description }) => description !== undefined)?.description;
  return [
    ...values.map((value) => ({
      label: String(value),
      kind: "value" as const,
      text: String(value),
      ...(info !== undefined && { info }),
    })),
    ...refsFor(path, text).map((ref) => ({ label: ref, kind: "ref" as const, text: ref })),
  ];
}

// Fields that refer to a key or an organization in the same text.
function refsFor(path: readonly Step[], text: string): readonly string[] {
  const [last, before] = [path.at(-1), path.at(-2)];
  const isAction = before === "rotate" || before === "revoke" || before === "when";
  if (last === "default_key" || (last === "key" && isAction)) return keyRefs(text);
  if (last === "key" && before === "request") return [...keyRefs(text), "none", "malformed", "unknown"];
  if (last === "organization" || (last === "ref" && before === "organization")) return organizationRefs(text);
  return [];
}

function organizationRefs(text: string): string[] {
  return keysOf(text).flatMap(([first, ref, ...more]) =>
    first === "organizations" && typeof ref === "string" && more.length === 0 ? [ref] : [],
  );
}

function keyRefs(text: string): string[] {
  const written = keysOf(text).flatMap(([first, , keys, ref, ...more]) =>
    first === "organizations" && keys === "keys" && typeof ref === "string" && more.length === 0 ? [ref] : [],
  );
  // Keys that the timeline or the story creates.
  const made = [...text.matchAll(/\b(?:ref|as):\s*([a-z0-9-]+)/g)].map(([, ref]) => ref as string);
  return [...new Set([...written, ...made])];
}
