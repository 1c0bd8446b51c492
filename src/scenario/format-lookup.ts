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
  /** Of a field that may also be null: the form of the value, then that of null. */
  readonly anyOf?: readonly FieldForm[];
}

/** The form of the field at a path, or `undefined` where the format has none. */
export function formAt(path: Path): FieldForm | undefined {
  let form: FieldForm | undefined = scenarioJsonSchema as FieldForm;
  for (const step of path) {
    if (typeof step === "number") form = form?.items;
    else if (Object.hasOwn(form?.properties ?? {}, step)) form = form?.properties?.[step];
    else form = typeof form?.additionalProperties === "object" ? form.additionalProperties : undefined;
  }
  return form?.anyOf?.[0] ?? form;
}

/** One place in the format where fields have names of their own: its path, with `<ref>` for a ref, and those names. */
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
  const below = Object.entries(form?.properties ?? {}).flatMap(([name, field]) =>
    levelsOf(field, [...path, name]),
  );
  const entry = form?.additionalProperties;
  if (typeof entry === "object") below.push(...levelsOf(entry, [...path, "<ref>"]));
  return form?.properties ? [{ path, fields: Object.keys(form.properties) }, ...below] : below;
}

/** The level that a path leads to, as {@link Level} writes it: refs replaced by `<ref>`. */
export function levelPath(path: Path): string[] {
  return path.map((step, index) => {
    const parent = formAt(path.slice(0, index));
    return Object.hasOwn(parent?.properties ?? {}, step) ? String(step) : "<ref>";
  });
}
