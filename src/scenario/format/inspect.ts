import type { z } from "zod/mini";
import type { Path } from "../problems/scenario-error.js";

// Reads a schema: which fields, choices and limits the format has at a place.

export type Schema = z.core.$ZodType;

interface Definition {
  readonly type: string;
  readonly innerType?: Schema;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly keyType?: Schema;
  readonly valueType?: Schema;
  readonly element?: Schema;
  readonly options?: readonly Schema[];
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly (string | number)[];
  readonly format?: string;
  readonly checks?: readonly { readonly _zod: { readonly def: CheckDefinition } }[];
}

interface CheckDefinition {
  readonly check: string;
  readonly value?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The definition of a schema: of an optional or nullable one that of the value, of several kinds the first. */
export function definitionOf(schema: Schema): Definition {
  return (unwrapped(schema)._zod as { readonly def: unknown }).def as Definition;
}

/** A schema without what makes it optional, nullable or one of several kinds. */
export function unwrapped(schema: Schema): Schema {
  const { innerType, options } = schema._zod.def as unknown as Definition;
  const inside = innerType ?? options?.[0];
  return inside === undefined ? schema : unwrapped(inside);
}

/** The schema of the field at a path, or `undefined` where the format has none. */
export function schemaAt(root: Schema, path: Path): Schema | undefined {
  let schema: Schema | undefined = root;
  for (const step of path) schema = schema && stepInto(schema, step);
  return schema;
}

function stepInto(schema: Schema, step: string | number): Schema | undefined {
  if (typeof step === "number") return definitionOf(schema).element;
  const { shape, valueType } = mappingOf(schema);
  return shape === undefined ? valueType : Object.hasOwn(shape, step) ? shape[step] : undefined;
}

// Of a field that takes several kinds of value, the one that is a mapping.
function mappingOf(schema: Schema): Definition {
  const { innerType, options } = schema._zod.def as unknown as Definition;
  if (innerType !== undefined) return mappingOf(innerType);
  const mapping = options?.find((one) => definitionOf(one).shape !== undefined);
  return definitionOf(mapping ?? schema);
}

/** The names of the fields that a mapping of this schema may have. */
export function fieldsOf(schema: Schema): string[] {
  return Object.keys(mappingOf(schema).shape ?? {});
}

/** The values that a field with a fixed choice may have. */
export function choicesOf(schema: Schema): readonly (string | number)[] | undefined {
  const { entries, values } = definitionOf(schema);
  return entries === undefined ? values : Object.values(entries);
}

/** The least and the largest of a number, a length of a text or of a list, where they are limited. */
export function limitsOf(schema: Schema): { readonly least?: number; readonly most?: number } {
  let limits: { least?: number; most?: number } = {};
  for (const { _zod } of definitionOf(schema).checks ?? []) {
    const { check, value, minimum, maximum } = _zod.def;
    const least = check === "greater_than" ? value : minimum;
    const most = check === "less_than" ? value : maximum;
    limits = { ...limits, ...(least !== undefined && { least }), ...(most !== undefined && { most }) };
  }
  return limits;
}

/** A place in the format where fields have names of their own; its path has `<ref>` for a ref, `<item>` for a position. */
export interface Level {
  readonly path: readonly string[];
  readonly fields: readonly string[];
}

/** Returns every level of a format, the outermost first. */
export function levelsOf(schema: Schema, path: readonly string[] = []): Level[] {
  const { shape = {}, valueType } = mappingOf(schema);
  const { element } = definitionOf(schema);
  const below = Object.entries(shape).flatMap(([name, field]) => levelsOf(field, [...path, name]));
  if (valueType !== undefined) below.push(...levelsOf(valueType, [...path, "<ref>"]));
  if (element !== undefined) below.push(...levelsOf(element, [...path, "<item>"]));
  const fields = Object.keys(shape);
  return fields.length > 0 ? [{ path, fields }, ...below] : below;
}

/** The level that a path leads to, as {@link Level} writes it. */
export function levelAt(root: Schema, path: Path): string[] {
  return path.map((step, index) => {
    if (typeof step === "number") return "<item>";
    const parent = schemaAt(root, path.slice(0, index));
    return parent !== undefined && fieldsOf(parent).includes(step) ? step : "<ref>";
  });
}
