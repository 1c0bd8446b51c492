import { isMapping } from "../json.js";
import aliases from "./aliases.json" with { type: "json" };
import { type Around, type Field, fieldsOf, type Path, pathText, type Shape, shapeOf } from "./shape.js";
import { listed, nearest, quote } from "./words.js";

/**
 * The diagnostic of an unknown field, with the probable field or the known fields.
 *
 * `holder` is the mapping with the field; `around` is the shape of the mapping around `holder`.
 */
export function unknownField(path: Path, shape: Shape, holder: unknown, around?: Around) {
  const parent = path.slice(0, -1);
  const name = String(path.at(-1));
  const where = parent.length === 0 ? "at the top level" : `in ${pathText(parent)}`;
  const diagnostic = {
    code: "unknown_field",
    path,
    pointAt: "key",
    message: `unknown field ${quote(name)} ${where}`,
  } as const;
  const fields = writtenFields(shape);
  const suggest = (field: string) => ({
    ...diagnostic,
    hint: `did you mean ${quote(field)}?`,
    suggestion: [...parent, field],
  });

  const members = (holder ?? {}) as Readonly<Record<string, unknown>>;
  const emptied = fields.find((field) => members[field] === null && isOfRefs(fieldsOf(shape)?.[field]));
  if (emptied !== undefined && isMapping(members[name])) {
    return { ...diagnostic, hint: `indent ${name} by more spaces than ${emptied}` };
  }
  const spelled = snakeCase(name);
  // `overlap_minutes: 60`: a duration contains its unit.
  const withoutUnit = spelled.replace(/_(?:ms|millis|seconds|minutes|hours|days)$/, "");
  const words = [spelled, ...meaningsOf(spelled), withoutUnit];
  const isFree = (field: string) => fields.includes(field) && !Object.hasOwn((holder ?? {}) as object, field);
  const free = words.find(isFree);
  if (free !== undefined) return suggest(free);
  if (around !== undefined && writtenFields(around.shape).includes(name)) {
    return { ...diagnostic, hint: `${name} belongs next to ${around.name}, not in it` };
  }
  const chooser = fields.find((field) => isChoiceOf(fieldsOf(shape)?.[field], spelled));
  if (chooser !== undefined) return { ...diagnostic, hint: `write ${chooser}: ${spelled}` };
  const near = nearest(name, fields);
  if (near !== undefined) return suggest(near);
  const hint =
    fields.length === 0 ? "no fields are known here" : `known fields here: ${listed(fields, "and")}`;
  return { ...diagnostic, hint };
}

function isOfRefs(field: Field | undefined): boolean {
  return field !== undefined && shapeOf(field).kind === "record";
}

function isChoiceOf(field: Field | undefined, word: string): boolean {
  const shape = field && shapeOf(field);
  return shape?.kind === "choice" && (shape.choices as readonly unknown[]).includes(word);
}

// The fields that people write, without those that only snapshots write.
function writtenFields(shape: Shape): string[] {
  const fields = Object.entries(fieldsOf(shape) ?? {});
  return fields.flatMap(([name, field]) => (shapeOf(field).isOfSnapshots ? [] : [name]));
}

/** `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s-]+/g, "_")
    .toLowerCase();
}

// Other tools' words for the fields and choices, by the word of the format.
const aliasesOf: Readonly<Record<string, readonly string[]>> = aliases;

/** The words of the format that another tool's word can mean; the first matching one is suggested. */
export function meaningsOf(word: string): string[] {
  return Object.keys(aliasesOf).filter((ours) => aliasesOf[ours]?.includes(word));
}
