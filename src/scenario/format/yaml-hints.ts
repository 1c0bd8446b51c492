import type { Notation } from "../../schema/notation.js";
import type { Mistake } from "../../schema/problem.js";
import { hasField, isMapping, type Shape, shapeAt, valueAt } from "../../schema/shape.js";
import { jsonNotation } from "./notations.js";

// Mistakes that only YAML has: what is valid there means something else than it looks like.

/** A scenario as a text. */
export const yamlNotation: Notation = {
  ...jsonNotation,
  language: "yaml",
  whole: "the scenario",
  hintOf: yamlHint,
};

/** The hint for a mistake of YAML: the first row that knows it. */
function yamlHint(mistake: Mistake, root: Shape, whole: unknown): string | undefined {
  for (const hintOf of hints) {
    const hint = hintOf(mistake, root, whole);
    if (hint !== undefined) return hint;
  }
  return undefined;
}

type HintOf = (mistake: Mistake, root: Shape, whole: unknown) => string | undefined;

const hints: readonly HintOf[] = [
  // `organizations: { keys: … }`: a mapping has the name of one of its own fields.
  ({ kind, path }, root) => {
    const [record, name] = path.slice(-3, -1);
    const isInside = kind === "missing" || kind === "unknown";
    if (!isInside || record === undefined || name === undefined) return undefined;
    if (!hasField(shapeAt(root, path.slice(0, -1)), name)) return undefined;
    return `indent ${name}: it belongs in one of the ${record}`;
  },
  // `keys:` and `main:` below each other: the first one is empty, and should have the second one inside it.
  ({ kind, path }, root, whole) => {
    const holder = valueAt(whole, path.slice(0, -1));
    const name = String(path.at(-1));
    if (!isMapping(holder) || kind === "missing") return undefined;
    for (const [empty, member] of neighbors(Object.keys(holder), name)) {
      const shape = shapeAt(root, [...path.slice(0, -1), empty]);
      const canBeInside = shape?.kind === "record" ? isMapping(holder[member]) : hasField(shape, member);
      if (holder[empty] === null && canBeInside) return `indent ${member} by more spaces than ${empty}`;
    }
    return undefined;
  },
  // `- environment: test` in place of a mapping.
  ({ kind, shape, value }) => {
    const isMappingInList = kind === "value" && shape.kind === "mapping" && Array.isArray(value);
    if (!isMappingInList || value.length === 0 || !value.every(isMapping)) return undefined;
    return value.length === 1 ? "remove the dash" : "remove the dashes";
  },
  // `-say: hello` in place of `- say: hello`.
  ({ kind, shape, value }) => {
    if (kind !== "value" || shape.kind !== "list" || !isMapping(value)) return undefined;
    const [name = ""] = Object.keys(value);
    return name.startsWith("-")
      ? `put a space after the dash: - ${name.slice(1)}: …`
      : "put a dash before each item";
  },
  // `environment:test` and `type bank` are texts.
  ({ kind, shape, value }) => {
    if (kind !== "value" || typeof value !== "string") return undefined;
    const [, name = "", rest] = /^([\w-]+)(?:\s*:\s*|\s+)(\S.*)$/.exec(value) ?? [];
    const isMember =
      shape.kind === "record" ? value.includes(":") && rest !== undefined : hasField(shape, name);
    return isMember ? `write ${name}: ${rest}, with an ordinary space after the colon` : undefined;
  },
  // `per_day: 1,000` in braces is two fields.
  ({ kind, path, value }) => {
    const isThousands = kind === "unknown" && value === null && /^\d{3}$/.test(String(path.at(-1)));
    return isThousands ? "write the number without a comma" : undefined;
  },
  // A block of text ends with a line end.
  ({ shape, value }) => {
    const isLines = shape.kind === "text" && shape.pattern !== undefined && /[\r\n]/.test(String(value));
    return isLines ? "write one line; a block starts with >- or |-, which leave out the line end" : undefined;
  },
];

/** A name with the one before it, and with the one after it. */
function neighbors(names: readonly string[], name: string): [before: string, after: string][] {
  const at = names.indexOf(name);
  const pairs: [before: string, after: string][] = [];
  for (const [before, after] of [names.slice(at - 1, at + 1), names.slice(at, at + 2)]) {
    if (before !== undefined && after !== undefined) pairs.push([before, after]);
  }
  return pairs;
}
