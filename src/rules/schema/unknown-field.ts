import aliases from "./aliases.json" with { type: "json" };
import type { Members, Mistake, Problem } from "./problem.js";
import {
  type FieldPath,
  fieldsOf,
  isMapping,
  namedFieldsOf,
  pathText,
  type Shape,
  type ShapeCode,
  shapeAt,
} from "./shape.js";
import { listed, nearest, quote } from "./words.js";

/** The problem of a field that its mapping does not have: the hint says where it belongs, or what it is called. */
export function unknownField(
  mistake: Pick<Mistake, "path" | "shape" | "holder">,
  root: Shape,
): Problem<ShapeCode> {
  const { path, shape, holder = {} } = mistake;
  const name = String(path.at(-1));
  const parent = path.slice(0, -1);
  const where = parent.length === 0 ? "at the top level" : `in ${pathText(parent)}`;
  const message = `unknown field ${quote(name)} ${where}`;
  const problem = { code: "unknown_field", field: path, message, pointAt: "key" } as const;

  const hint =
    outdentedHint(path, root) ?? rightValue(name, shape, holder) ?? rightMapping(path, shape, root);
  if (hint !== undefined) return { ...problem, hint };

  const meant = rightName(name, shape, holder);
  if (meant !== undefined) {
    return { ...problem, hint: `did you mean ${quote(meant)}?`, meant: [...parent, meant] };
  }

  const fields = settableFields(shape);
  if (fields.length === 0) return { ...problem, hint: "no fields are known here" };
  return { ...problem, hint: `known fields here: ${listed(fields, "and")}` };
}

/** A hint if the mapping around a field has the name of one of its own fields: it is one level too high. */
export function outdentedHint(path: FieldPath, root: Shape): string | undefined {
  const [around, name = ""] = path.slice(-3, -1);
  const fields = fieldsOf(shapeAt(root, path.slice(0, -1)) as Shape) ?? {}; // the field was looked for in it
  if (!Object.hasOwn(fields, name)) return undefined;
  return `indent ${name}: it belongs in one of the ${around}`;
}

/** A hint if the name is a member or a choice of a field that is next to it. */
function rightValue(name: string, shape: Shape, holder: Members): string | undefined {
  const fields = namedFieldsOf(shape);
  const isContainer = isMapping(holder[name]);
  if (isContainer) {
    const emptied = fields.find((field) => field.shape.kind === "record" && holder[field.name] === null);
    if (emptied !== undefined) return `indent ${name} by more spaces than ${emptied.name}`;
  }

  const choice = fieldSpelling(name);
  const field = fields.find((one) => one.shape.kind === "choice" && one.shape.choices.includes(choice));
  if (field === undefined) return undefined;
  // `rotated: { to: … }` is about the replacement.
  if (isContainer && meaningsOf(choice)[0] !== field.name) return undefined;
  return `write ${field.name}: ${choice}`;
}

/** A hint if the mapping around it, or one inside, has a field of this name. */
function rightMapping(path: FieldPath, shape: Shape, root: Shape): string | undefined {
  const name = String(path.at(-1));
  const outer = path.at(-2);
  const around = shapeAt(root, path.slice(0, -2));
  if (typeof outer === "string" && around !== undefined && settableFields(around).includes(name)) {
    return `${name} belongs next to ${outer}, not in it`;
  }

  const holders: string[] = [];
  for (const field of settableFields(shape)) {
    const inner = shapeAt(shape, [field]) as Shape; // one of its fields
    if (settableFields(inner).includes(name)) holders.push(field);
  }
  if (holders.length !== 1) return undefined;
  return `${name} belongs in ${holders[0]}: { ${name}: … }`;
}

/** The field that the name probably means. */
function rightName(name: string, shape: Shape, holder: Members): string | undefined {
  // Other formats hide what starts with a dot.
  if (name.startsWith(".")) return `x-${name.slice(1)}`;

  const fields = settableFields(shape);
  const spelled = fieldSpelling(name);
  for (const field of [spelled, ...meaningsOf(spelled)]) {
    if (fields.includes(field) && !Object.hasOwn(holder, field)) return field;
  }
  return nearest(name, fields);
}

/** The fields of a mapping that people write. */
function settableFields(shape: Shape): string[] {
  const fields = namedFieldsOf(shape).filter((field) => !field.shape.isOfSnapshots);
  return fields.map(({ name }) => name);
}

/** `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
export function fieldSpelling(name: string): string {
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
