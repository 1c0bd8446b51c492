import { jsonNotation, type Notation } from "../../schema/notation.js";
import { hasField, isMapping, shapeAt, valueAt } from "../../schema/shape.js";

// Mistakes that only YAML has: what is valid there means something else than it looks like.

/** A scenario as a text. */
export const yamlNotation: Notation = {
  ...jsonNotation,
  language: "yaml",
  whole: "the scenario",
  hintOf(mistake, root, whole) {
    for (const hintOf of hints) {
      const hint = hintOf(mistake, root, whole);
      if (hint !== undefined) return hint;
    }
    return undefined;
  },
};

/** The first that knows the mistake gives the hint. */
const hints: readonly Notation["hintOf"][] = [
  // `keys:` and below it `main:` with the same indent: the first is empty, and has no member.
  ({ kind, path, value }, root, whole) => {
    const around = path.slice(0, -1);
    const holder = valueAt(whole, around);
    if (!isMapping(holder) || kind === "missing") return undefined;

    const names = Object.keys(holder);
    const at = names.indexOf(String(path.at(-1)));
    const [empty = "", member = ""] = value === null ? names.slice(at) : names.slice(at - 1);
    const shape = shapeAt(root, [...around, empty]);
    const canBeInside = shape?.kind === "record" ? isMapping(holder[member]) : hasField(shape, member);
    const isBelow = holder[empty] === null && canBeInside;
    return isBelow ? `indent ${member} by more spaces than ${empty}` : undefined;
  },
  // `- environment: test` in place of a mapping.
  ({ kind, shape, value }) => {
    const isMappingInList = kind === "value" && shape.kind === "mapping" && Array.isArray(value);
    if (!isMappingInList || value.length === 0 || !value.every(isMapping)) return undefined;
    return value.length === 1 ? "remove the dash" : "remove the dashes";
  },
  // `environment:test` is a text, and so is one with a wide space.
  ({ kind, shape, value }) => {
    if (kind !== "value" || typeof value !== "string") return undefined;
    const [, name = "", rest] = /^([\w-]+):\s*(\S.*)$/.exec(value) ?? [];
    const isMember = shape.kind === "record" || hasField(shape, name);
    if (rest === undefined || !isMember) return undefined;
    return `write ${name}: ${rest}, with an ordinary space after the colon`;
  },
  // A block of text ends with a line end.
  ({ shape, value }) => {
    const isLines = shape.kind === "text" && shape.pattern !== undefined && /[\r\n]/.test(String(value));
    return isLines ? "write one line; a block starts with >- or |-, which leave out the line end" : undefined;
  },
];
