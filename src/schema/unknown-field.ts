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

/** Other tools' words for fields and choices, by the word of the format. */
const aliasesByWord: Readonly<Record<string, readonly string[]>> = aliases;

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

  // The first hint that fits: what is known for certain comes before what is only similar.
  const hint =
    outdentedHint(path, root) ??
    unindentedHint(name, shape, holder) ??
    choiceAsFieldHint(name, shape, holder) ??
    misplacedHint(path, shape, root);
  if (hint !== undefined) return { ...problem, hint };

  const meant = meantField(name, shape, holder);
  if (meant !== undefined) {
    return { ...problem, hint: `did you mean ${quote(meant)}?`, meant: [...parent, meant] };
  }

  const fields = settableFields(shape);
  if (fields.length === 0) return { ...problem, hint: "no fields are known here" };
  return { ...problem, hint: `known fields here: ${listed(fields, "and")}` };
}

/**
 * A hint if the mapping that lacks or does not know a field has the name of one of its own fields: it is one level too
 * high. In `organizations: { keys: … }`, `keys` is read as the ref of an organization, and organizations have `keys`.
 */
export function outdentedHint(path: FieldPath, root: Shape): string | undefined {
  const mapping = path.slice(0, -1);
  const name = mapping.at(-1);
  const record = mapping.at(-2);
  if (name === undefined || record === undefined) return undefined;

  const fields = fieldsOf(shapeAt(root, mapping) as Shape) ?? {}; // the field was looked for in it
  if (!Object.hasOwn(fields, name)) return undefined;
  return `indent ${name}: it belongs in one of the ${record}`;
}

/** A hint if the field is a mapping next to an empty record: `main` is only as far to the right as `keys`. */
function unindentedHint(name: string, shape: Shape, holder: Members): string | undefined {
  if (!isMapping(holder[name])) return undefined;
  for (const field of namedFieldsOf(shape)) {
    const isEmptyRecord = field.shape.kind === "record" && holder[field.name] === null;
    if (isEmptyRecord) return `indent ${name} by more spaces than ${field.name}`;
  }
  return undefined;
}

/** A hint if the name is a choice of another field: `revoked: true` in place of `state: revoked`. */
function choiceAsFieldHint(name: string, shape: Shape, holder: Members): string | undefined {
  const choice = fieldSpelling(name);
  const field = namedFieldsOf(shape).find(
    (one) => one.shape.kind === "choice" && one.shape.choices.includes(choice),
  );
  if (field === undefined) return undefined;
  // A mapping has more to say than a choice: `rotated: { to: … }` is about the replacement.
  if (isMapping(holder[name]) && meaningsOf(choice)[0] !== field.name) return undefined;
  return `write ${field.name}: ${choice}`;
}

/** A hint if the mapping one level up has a field of this name, or exactly one of the mappings next to it has. */
function misplacedHint(path: FieldPath, shape: Shape, root: Shape): string | undefined {
  const name = String(path.at(-1));
  const holderName = path.at(-2);
  const outer = shapeAt(root, path.slice(0, -2));
  if (typeof holderName === "string" && outer !== undefined && settableFields(outer).includes(name)) {
    return `${name} belongs next to ${holderName}, not in it`;
  }

  const owners: string[] = [];
  for (const field of settableFields(shape)) {
    const inner = shapeAt(shape, [field]) as Shape; // one of its fields
    if (settableFields(inner).includes(name)) owners.push(field);
  }
  if (owners.length !== 1) return undefined;
  return `${name} belongs in ${owners[0]}: { ${name}: … }`;
}

/** The field that the name probably means. */
function meantField(name: string, shape: Shape, holder: Members): string | undefined {
  // Other formats hide what starts with a dot.
  if (name.startsWith(".")) return `x-${name.slice(1)}`;

  const fields = settableFields(shape);
  const spelled = fieldSpelling(name);
  for (const field of [spelled, ...meaningsOf(spelled)]) {
    if (fields.includes(field) && !Object.hasOwn(holder, field)) return field;
  }
  return nearest(name, fields);
}

/** The names of the fields of a mapping that people write. */
function settableFields(shape: Shape): string[] {
  const fields = namedFieldsOf(shape).filter((field) => !field.shape.isSnapshotOnly);
  return fields.map(({ name }) => name);
}

/** A name as the format spells fields: `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
export function fieldSpelling(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s-]+/g, "_")
    .toLowerCase();
}

/** The words of the format that another tool's word can mean, the likeliest first. */
export function meaningsOf(word: string): string[] {
  return Object.keys(aliasesByWord).filter((ours) => aliasesByWord[ours]?.includes(word));
}
