import { type FieldPath, pathText } from "./field-path.js";
import type { Notation } from "./notation.js";
import type { ShapeProblem, UnknownField } from "./problem.js";
import { settableNames } from "./shape-fields.js";
import type { Shape } from "./shape-kinds.js";
import { listed, nearest, quote } from "./words.js";

/** Says what the field is called, or which fields there are. */
export function unknownField({ path, shape, members }: UnknownField, notation: Notation): ShapeProblem {
  const name = String(path.at(-1));
  let hint = `known fields here: ${knownFields(shape, notation)}`;
  const meant = nearest(name, settableNames(shape));
  const hasMeant = meant !== undefined && Object.hasOwn(members, meant);
  if (meant !== undefined && !hasMeant) hint = `did you mean ${quote(notation.spell(meant))}?`;

  const message = `unknown field ${quote(name)} ${placeText(path.slice(0, -1), notation)}`;
  return { code: "unknown_field", field: path, message, hint, pointAt: "name" };
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
