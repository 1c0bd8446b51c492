import { type Notation, writtenField } from "./notation.js";
import type { Members, Mistake, Wording } from "./problem.js";
import {
  type FieldPath,
  hasField,
  isMapping,
  namedFieldsOf,
  pathText,
  type Shape,
  settableFieldsOf,
  shapeAt,
} from "./shape.js";
import { listed, nearest, quote } from "./words.js";

/** Says where the field belongs, what it is called, or which fields there are. */
export function unknownField(mistake: Mistake, root: Shape, notation: Notation): Wording {
  const { path, shape, holder = {} } = mistake;
  const parent = path.slice(0, -1);
  const spelled = parent.map((step) => (typeof step === "string" ? notation.spell(step) : step));
  const where = parent.length === 0 ? "at the top level" : `in ${pathText(spelled)}`;
  const problem = {
    code: "unknown_field",
    name: `unknown field ${quote(path.at(-1))}`,
    what: where,
    pointAt: "key",
  } as const;

  const elsewhere = choiceOfField(mistake, notation) ?? otherPlace(path, shape, root, notation);
  if (elsewhere !== undefined) return { ...problem, hint: elsewhere };

  const meant = meantField(String(path.at(-1)), shape, holder, notation);
  if (meant !== undefined) {
    return { ...problem, hint: `did you mean ${quote(notation.spell(meant))}?`, meant: [...parent, meant] };
  }
  const names = settableFieldsOf(shape).map(({ name }) => notation.spell(name));
  if (names.length === 0) return { ...problem, hint: "no fields are known here" };
  return { ...problem, hint: `known fields here: ${listed(names, "and")}` };
}

/** The name is a choice of another field: `revoked: true` in place of `state: revoked`. */
function choiceOfField({ path, shape, value }: Mistake, notation: Notation): string | undefined {
  const choice = fieldSpelling(String(path.at(-1)));
  for (const { name, shape: field } of namedFieldsOf(shape)) {
    const isChoice = field.kind === "choice" && field.choices.includes(choice);
    if (!isChoice) continue;
    // A mapping has more to say than a choice: `rotated: { to: … }` is about the replacement.
    const [meant = name] = notation.meaningsOf(choice);
    if (isMapping(value) && meant !== name) return undefined;
    return `write ${writtenField(name, choice, notation)}`;
  }
  return undefined;
}

/** The mapping one level up has a field of this name, or exactly one of the mappings next to it has. */
function otherPlace(path: FieldPath, shape: Shape, root: Shape, notation: Notation): string | undefined {
  const name = String(path.at(-1));
  const holderName = path.at(-2);
  const outer = shapeAt(root, path.slice(0, -2));
  if (typeof holderName === "string" && holderName !== name && outer !== undefined && hasField(outer, name)) {
    return `${notation.spell(name)} belongs next to ${notation.spell(holderName)}, not in it`;
  }

  const owners = settableFieldsOf(shape).filter((field) => hasField(field.shape, name));
  const [owner] = owners;
  if (owner === undefined || owners.length > 1) return undefined;
  return `${notation.spell(name)} belongs in ${writtenField(owner.name, { [name]: undefined }, notation)}`;
}

/** The field that the name probably means. */
function meantField(name: string, shape: Shape, holder: Members, notation: Notation): string | undefined {
  const fields = settableFieldsOf(shape).map((field) => field.name);
  const spelled = fieldSpelling(name);
  for (const field of [spelled, ...notation.meaningsOf(spelled)]) {
    if (fields.includes(field) && !Object.hasOwn(holder, field)) return field;
  }
  return nearest(name, fields);
}

/** A name as the format spells fields: `perMinute`, `PER_MINUTE` and `per-minute` as `per_minute`. */
function fieldSpelling(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[\s-]+/g, "_")
    .toLowerCase();
}
