import { pathText } from "./field-path.js";
import { type Notation, writeField } from "./notation.js";
import type { UnknownField, Wording } from "./problem.js";
import { settableFieldsOf } from "./shape-fields.js";
import type { Shape } from "./shape-kinds.js";
import { isMapping } from "./type-tag.js";
import { listed, nearest, quote } from "./words.js";

/** Says what the field is called, or which fields there are. */
export function unknownField(mistake: UnknownField, notation: Notation): Wording {
  const { path, shape } = mistake;
  const parent = path.slice(0, -1);
  const spelled = parent.map((step) => (typeof step === "string" ? notation.spell(step) : step));
  const problem = {
    code: "unknown_field",
    name: `unknown field ${quote(path.at(-1))}`,
    predicate: parent.length === 0 ? "at the top level" : `in ${pathText(spelled)}`,
    pointAt: "name",
  } as const;

  const hint = choiceAsField(mistake, notation);
  if (hint !== undefined) return { ...problem, hint };

  const meant = meantField(mistake);
  if (meant !== undefined) {
    return { ...problem, hint: `did you mean ${quote(notation.spell(meant))}?`, meant: [...parent, meant] };
  }
  return { ...problem, hint: `known fields here: ${knownFields(shape, notation)}` };
}

/** The fields that people write, in a sentence. */
export function knownFields(shape: Shape, notation: Notation): string {
  return listed(settableNames(shape).map(notation.spell), "and") || "none";
}

/** `revoked: true`, or `revoked: {}`, in place of `state: revoked`. */
function choiceAsField(
  { path, shape, value, members }: UnknownField,
  notation: Notation,
): string | undefined {
  if (value !== true && !isMapping(value)) return undefined;
  const choice = String(path.at(-1));
  for (const { name, shape: field } of settableFieldsOf(shape)) {
    const isChoice = field.kind === "choice" && field.choices.includes(choice);
    if (isChoice && !Object.hasOwn(members, name)) return `write ${writeField(name, choice, notation)}`;
  }
  return undefined;
}

/** The field that the name probably is, if the mapping does not have it already. */
function meantField({ path, shape, members }: UnknownField): string | undefined {
  const meant = nearest(String(path.at(-1)), settableNames(shape));
  return meant === undefined || Object.hasOwn(members, meant) ? undefined : meant;
}

function settableNames(shape: Shape): string[] {
  return settableFieldsOf(shape).map(({ name }) => name);
}
