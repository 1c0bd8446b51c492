import { type FieldPath, pathText } from "./field-path.js";
import type { Notation } from "./notation.js";
import type { ShapeProblem, UnknownField } from "./problem.js";
import { settableNames } from "./shape-fields.js";
import type { Shape } from "./shape-kinds.js";
import { listed, nearest, quote } from "./words.js";

/** Says what the field is called, or which fields there are. */
export function unknownField(mistake: UnknownField, notation: Notation): ShapeProblem {
  const { path, shape } = mistake;
  const meant = meantField(mistake);
  let hint = `known fields here: ${knownFields(shape, notation)}`;
  if (meant !== undefined) hint = `did you mean ${quote(notation.spell(meant))}?`;

  const message = `unknown field ${quote(String(path.at(-1)))} ${placeText(path.slice(0, -1), notation)}`;
  return { code: "unknown_field", field: path, message, hint, pointAt: "name" };
}

/** The field that the name probably is, if the mapping does not have it already. */
export function meantField({ path, shape, members }: UnknownField): string | undefined {
  const meant = nearest(String(path.at(-1)), settableNames(shape));
  return meant === undefined || Object.hasOwn(members, meant) ? undefined : meant;
}

function placeText(mapping: FieldPath, notation: Notation): string {
  if (mapping.length === 0) return "at the top level";
  const spelled = mapping.map((step) => (typeof step === "string" ? notation.spell(step) : step));
  return `in ${pathText(spelled)}`;
}

/** The fields that people write, in a sentence. */
export function knownFields(shape: Shape, notation: Notation): string {
  return listed(settableNames(shape).map(notation.spell), "and") || "none";
}
