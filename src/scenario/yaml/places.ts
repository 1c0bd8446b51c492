import { isMap, isScalar, isSeq, type Node, type YAMLMap } from "yaml";
import { safeOutput } from "../../rules/terminal-text.js";
import { charactersOf, textWidth } from "../../rules/text-width.js";
import type { FieldPath } from "../../schema/field-path.js";
import { type Place, redactSecrets, type SourcePlace, type SourceText } from "../redact-secrets.js";
import type { FieldLocation } from "../written-scenario.js";
import { aliasTarget, keyText, type MapPair, type Tree } from "./read-yaml.js";
import { hasPartOfSecret } from "./secrets.js";

export function createSource(text: string, file?: string): SourceText {
  // YAML allows a lone carriage return as a line end; a line feed is one for every reader and keeps the offsets.
  return { file, text: text.replace(/^\uFEFF/, "").replace(/\r(?!\n)/g, "\n") };
}

export function placeAt(source: SourceText, offset: number): SourcePlace {
  return { source, offset, describe: () => describe(source, offset) };
}

/** A longer line is not shown. */
const longestLine = 1000;

/** Describes a place; the line is shown without keys, and not at all if it contains a part of a secret (R46). */
function describe(source: SourceText, offset: number): Place {
  const { file, text } = source;
  // A problem at the end of the text is shown after its last visible character, not on the next empty line.
  const at = Math.max(0, Math.min(offset, text.trimEnd().length));
  const lineStart = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const [line = ""] = text.slice(lineStart, lineStart + longestLine + 1).split(/\r?\n/);
  const place: Place = {
    ...(file !== undefined && { file }),
    line: lineNumberAt(text, lineStart),
    column: at - lineStart + 1,
  };
  if (line.length > longestLine || hasPartOfSecret(source, at)) return place;

  // The caret is below the line as it is shown, where a key before it is shortened.
  const shownBefore = safeToShow(text.slice(lineStart, at));
  const excerpt = excerptOf(safeToShow(line), shownBefore.length);
  return { ...place, source: excerpt.text, caret: excerpt.caret };
}

/** A part of a line without keys, and without what a terminal would obey. */
function safeToShow(part: string): string {
  return safeOutput(redactSecrets(part));
}

/** The number of the line that starts at an offset. */
function lineNumberAt(text: string, lineStart: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end !== -1 && end < lineStart; end = text.indexOf("\n", end + 1)) {
    line += 1;
  }
  return line;
}

/** The whole scenario, a field of a mapping, or an item of a list, as the text has it. */
interface PlacedNode {
  /** Only a field has a name. */
  readonly name: Node | undefined;
  readonly value: Node | null;
}

/** The places of the fields in a text. */
export class NodePlaces {
  readonly #tree: Tree;
  /** The fields of each mapping by name, once one of them was looked for. */
  readonly #pairsByMap = new Map<YAMLMap, ReadonlyMap<string, MapPair>>();

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  /** Follows a field path as far as the text has it. A field around the one that is missing is shown at its name. */
  locate(field: FieldPath, pointAt: "name" | "value"): FieldLocation {
    const { source, root } = this.#tree;
    let reached: PlacedNode = { name: undefined, value: root };
    for (const [depth, step] of field.entries()) {
      const inner = this.#nodeInside(reached.value, step);
      if (inner === undefined) {
        const match = depth === 0 ? "none" : "around";
        return { match, place: placeAt(source, offsetOf(nodeToShow(reached, "name"))) };
      }
      reached = inner;
    }

    const place = placeAt(source, offsetOf(nodeToShow(reached, pointAt)));
    const value = aliasTarget(this.#tree, reached.value);
    return { match: "exact", place, spelling: isScalar(value) ? value.source : undefined };
  }

  /** The field or the item inside a node; `undefined` if it has none of this name or number. */
  #nodeInside(outer: Node | null, step: string | number): PlacedNode | undefined {
    // The fields of an alias are in the lines of its anchor.
    const node = aliasTarget(this.#tree, outer);
    if (isMap(node)) {
      const pair = this.#pairsOf(node).get(String(step));
      return pair && { name: pair.key, value: pair.value };
    }
    if (!isSeq(node)) return undefined;

    const item = node.items[Number(step)] as Node | undefined;
    return item && { name: undefined, value: item };
  }

  #pairsOf(map: YAMLMap): ReadonlyMap<string, MapPair> {
    const earlierPairs = this.#pairsByMap.get(map);
    if (earlierPairs !== undefined) return earlierPairs;

    const pairs = new Map<string, MapPair>();
    for (const pair of map.items as MapPair[]) pairs.set(keyText(pair.key), pair);
    this.#pairsByMap.set(map, pairs);
    return pairs;
  }
}

function nodeToShow({ name, value }: PlacedNode, pointAt: "name" | "value"): Node | null {
  if (name === undefined) return value;
  // A value without text, as in `keys:`, is shown at its name.
  const [start = 0, end = 0] = value?.range ?? [];
  return pointAt === "value" && end > start ? value : name;
}

function offsetOf(node: Node | null): number {
  return node?.range?.[0] ?? 0;
}

// A long line is shown around the place of its problem.

/** The maximum number of columns of an excerpt: with its indent, it fits in a terminal of 80. */
const excerptColumns = 72;

/** The part of a line around a position, and a caret that is right also after tabs and wide characters. */
function excerptOf(line: string, position: number): { text: string; caret: string } {
  const before = charactersOf(line.slice(0, position));
  const after = charactersOf(line.slice(position));
  // Each part gets half of the columns, and what a shorter other part leaves free.
  const columnsAfter = columnsOf(firstFitting(after, excerptColumns / 2));
  const shownBefore = firstFitting([...before].reverse(), excerptColumns - columnsAfter).reverse();
  const shownAfter = firstFitting(after, excerptColumns - columnsOf(shownBefore));

  const isCutBefore = shownBefore.length < before.length;
  const isCutAfter = shownAfter.length < after.length;
  const textBefore = (isCutBefore ? "…" : "") + shownBefore.join("");
  const textAfter = shownAfter.join("") + (isCutAfter ? "…" : "");
  return { text: textBefore + textAfter, caret: `${asSpace(textBefore)}^` };
}

/** The first characters, as many as fit in so many columns. */
function firstFitting(characters: readonly string[], maxColumns: number): string[] {
  const fitting: string[] = [];
  let columns = 0;
  for (const character of characters) {
    columns += columnsOf([character]);
    if (columns > maxColumns) break;
    fitting.push(character);
  }
  return fitting;
}

function columnsOf(characters: readonly string[]): number {
  let columns = 0;
  // A tab, and what has no width by itself, counts as one column.
  for (const character of characters) columns += Math.max(1, textWidth(character));
  return columns;
}

/** Spaces as wide as a text, with its tabs. */
function asSpace(text: string): string {
  return text.replace(/[^\t]+/g, (part) => " ".repeat(textWidth(part)));
}

// The lines of a text that may be no YAML.

export function isEmptyOrComment(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}

/** How many spaces a line starts with. */
export function indentOf(line: string): number {
  return line.search(/[^ ]|$/);
}
