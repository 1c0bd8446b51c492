import { jsonNotation, type Notation } from "../../schema/notation.js";
import type { Mistake } from "../../schema/problem.js";
import type { Shape } from "../../schema/shape.js";
import { hasField, shapeAt } from "../../schema/shape-fields.js";
import { isMapping } from "../../schema/type-tag.js";
import { valueAt } from "../value-at.js";

// Mistakes that only YAML has: what is valid there means something else than it looks like.

/** A scenario as a text. */
export const yamlNotation: Notation = {
  ...jsonNotation,
  language: "yaml",
  nameOfWhole: "the scenario",
  ownHint(mistake, root, whole) {
    return (
      hintForSameIndent(mistake, root, whole) ??
      hintForDashes(mistake) ??
      hintForMissingSpace(mistake) ??
      hintForBlock(mistake)
    );
  },
};

/**
 * `keys:` and below it `main:` with the same indent: for YAML, `keys` is empty, and `main` is a field next to it. The mistake
 * is at `keys`, which has no value, or at `main`, which is unknown there.
 */
function hintForSameIndent({ kind, path, value }: Mistake, root: Shape, whole: unknown): string | undefined {
  const pathAround = path.slice(0, -1);
  const fields = valueAt(whole, pathAround);
  if (kind === "missing" || !isMapping(fields)) return undefined;

  const names = Object.keys(fields);
  const indexOfMistake = names.indexOf(String(path.at(-1)));
  const indexOfEmpty = value === null ? indexOfMistake : indexOfMistake - 1;
  const empty = names[indexOfEmpty];
  const below = names[indexOfEmpty + 1];
  if (empty === undefined || below === undefined || fields[empty] !== null) return undefined;

  const shape = shapeAt(root, [...pathAround, empty]);
  const canBeInside = shape?.kind === "record" ? isMapping(fields[below]) : hasField(shape, below);
  return canBeInside ? `indent ${below} by more spaces than ${empty}` : undefined;
}

/** `- environment: test` in place of a mapping. */
function hintForDashes({ kind, shape, value }: Mistake): string | undefined {
  const isListForMapping = kind === "value" && shape.kind === "mapping" && Array.isArray(value);
  if (!isListForMapping || value.length === 0 || !value.every(isMapping)) return undefined;
  return value.length === 1 ? "remove the dash" : "remove the dashes";
}

/** `environment:test` is a text, and so is `environment: test` with a wide space. */
function hintForMissingSpace({ kind, shape, value }: Mistake): string | undefined {
  if (kind !== "value" || typeof value !== "string") return undefined;
  const [, name = "", rest] = /^([\w-]+):\s*(\S.*)$/.exec(value) ?? [];
  const isMember = shape.kind === "record" || hasField(shape, name);
  if (rest === undefined || !isMember) return undefined;
  return `write ${name}: ${rest}, with an ordinary space after the colon`;
}

/** A text that is a block has a line end, which its pattern does not allow. */
function hintForBlock({ shape, value }: Mistake): string | undefined {
  const isText = shape.kind === "text" && typeof value === "string";
  if (!isText || shape.pattern === undefined || !/[\r\n]/.test(value)) return undefined;
  return "write one line; a block starts with >- or |-, which leave out the line end";
}
