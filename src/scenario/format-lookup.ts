import { scenarioJsonSchema } from "./json-schema.generated.js";
import type { Path } from "./located.js";

/** The part of the format that describes one field, as JSON Schema says it. */
export interface FieldForm {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, FieldForm>>;
  /** In a mapping from refs: the form of each entry. */
  readonly additionalProperties?: FieldForm | boolean;
  readonly items?: FieldForm;
  readonly pattern?: string;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  /** Of a field that takes more than one kind of value, null among them: the form of the usual kind first. */
  readonly anyOf?: readonly FieldForm[];
}

/** The form of the field at a path, or `undefined` where the format has none. */
export function formAt(path: Path): FieldForm | undefined {
  const form = wholeFormAt(path);
  return form?.anyOf?.[0] ?? form;
}

/** The names of the fields that a mapping at a path may have. */
export function fieldsAt(path: Path): string[] {
  return Object.keys(propertiesOf(wholeFormAt(path)));
}

function wholeFormAt(path: Path): FieldForm | undefined {
  let form: FieldForm | undefined = scenarioJsonSchema as FieldForm;
  for (const step of path) form = stepInto(form, step);
  return form;
}

function stepInto(form: FieldForm | undefined, step: string | number): FieldForm | undefined {
  if (typeof step === "number") return form?.items;
  const properties = propertiesOf(form);
  if (Object.hasOwn(properties, step)) return properties[step];
  return typeof form?.additionalProperties === "object" ? form.additionalProperties : undefined;
}

/** The fields that a form has when it is that of a mapping, or can be. */
export function propertiesOf(form: FieldForm | undefined): Readonly<Record<string, FieldForm>> {
  return form?.properties ?? form?.anyOf?.find(({ properties }) => properties)?.properties ?? {};
}

/**
 * One place in the format where fields have names of their own: its path, with `<ref>` for a ref and `<item>` for the
 * place in a list, and those names.
 */
export interface Level {
  readonly path: readonly string[];
  readonly fields: readonly string[];
}

let allLevels: readonly Level[] | undefined;

/** Every level of the format, the outermost first. */
export function levels(): readonly Level[] {
  allLevels ??= levelsOf(formAt([]), []);
  return allLevels;
}

function levelsOf(form: FieldForm | undefined, path: readonly string[]): Level[] {
  const properties = propertiesOf(form);
  const below = Object.entries(properties).flatMap(([name, field]) => levelsOf(field, [...path, name]));
  const entry = form?.additionalProperties;
  if (typeof entry === "object") below.push(...levelsOf(entry, [...path, "<ref>"]));
  if (form?.items !== undefined) below.push(...levelsOf(form.items, [...path, "<item>"]));
  const fields = Object.keys(properties);
  return fields.length > 0 ? [{ path, fields }, ...below] : below;
}

/** The level that a path leads to, as {@link Level} writes it: refs and places in lists replaced. */
export function levelPath(path: Path): string[] {
  return path.map((step, index) => {
    if (typeof step === "number") return "<item>";
    return fieldsAt(path.slice(0, index)).includes(step) ? step : "<ref>";
  });
}
