import { type Document, isNode, type Node, visit } from "yaml";
import { charactersOf, safeOutput, textWidth } from "../../rules/terminal-text.js";
import { nearest } from "../../schema/words.js";
import {
  type FieldProblem,
  type Place,
  redactSecrets,
  type SourcePlace,
  type SourceText,
} from "../problems.js";
import { keyText, type MapPair } from "./parse-yaml.js";

/** A problem of the text, which is of no field. */
export function textProblem(
  source: SourceText,
  offset: number,
  code: FieldProblem["code"],
  message: string,
  hint?: string,
): FieldProblem {
  return { code, field: [], message, hint, place: placeAt(source, offset) };
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
    line: text.slice(0, lineStart).split("\n").length,
    column: at - lineStart + 1,
  };
  if (line.length > longestLine || hasPartOfSecret(source, at)) return place;

  // Without keys, and without what a terminal would obey.
  const safeToShow = (part: string) => safeOutput(redactSecrets(part));
  // The caret is below the line as it is shown, where a key before it is shortened.
  const shownBefore = safeToShow(text.slice(lineStart, at));
  return { ...place, ...excerptOf(safeToShow(line), shownBefore.length) };
}

// A long line is shown around the place of its problem.

/** The maximum number of columns of an excerpt: with its indent, it fits in a terminal of 80. */
const excerptColumns = 72;

/** The part of a line around a position, and a caret that is right also after tabs and wide characters. */
function excerptOf(line: string, position: number): { source: string; caret: string } {
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
  // As wide as the text before it, with its tabs.
  const spaceBefore = textBefore.replace(/[^\t]+/g, (part) => " ".repeat(textWidth(part)));
  return { source: textBefore + textAfter, caret: `${spaceBefore}^` };
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

// Which lines of a text are not shown, because they contain a part of a secret.

/** Whether the line at an offset contains a part of a secret. */
export function hasPartOfSecret(source: SourceText, offset: number): boolean {
  const { text, secrets } = source;
  const lineStart = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  const nextLine = text.indexOf("\n", lineStart);
  const lineEnd = nextLine === -1 ? text.length : nextLine;
  if (secrets !== undefined) {
    return secrets().some(([start, end]) => start < lineEnd && end > lineStart);
  }
  // A text that is not valid YAML has only names to go by.
  const lines = linesAround(text.slice(lineStart, lineEnd), text.slice(0, lineStart));
  return lines.some((line) => mayNameSecretElsewhere.test(line) || hasSecretName(line));
}

/** What may have the name of a secret elsewhere: an anchor, an alias as a name, or the `:` after a name that has a line of its own. */
const mayNameSecretElsewhere = /(?:^|[\s[{,:?-])(?:&[^\s,[\]{}]|\*[^\s,[\]{}]+ +:(?:\s|$))|^[\s-]*:\s/;

/** A line, and the lines above that it may belong to. */
function linesAround(line: string, textAbove: string): string[] {
  const linesAbove = textAbove.split("\n").filter((above) => !isEmptyOrComment(above));
  linesAbove.reverse();

  // The line may continue the value of the line above, however it is indented.
  const lines = [line, ...linesAbove.slice(0, 1)];

  // It belongs to the nearest line above that is indented less, and that line to the next. An item of a list may be at the level of
  // the name above it.
  let indent = indentOf(line);
  let isItem = isItemOfList(line);
  for (const above of linesAbove) {
    const isNameOfItem = isItem && indentOf(above) === indent && !isItemOfList(above);
    if (indentOf(above) >= indent && !isNameOfItem) continue;
    lines.push(above);
    indent = indentOf(above);
    isItem = isItemOfList(above);
  }
  return lines;
}

function isItemOfList(line: string): boolean {
  return /^ *-(?:\s|$)/.test(line);
}

export function isEmptyOrComment(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}

/** How many spaces a line starts with. */
export function indentOf(line: string): number {
  return line.search(/[^ ]|$/);
}

/** A longer name may be a secret itself. */
const longestFieldName = 100;

/** `secret` in `- secret = hunter2` and in `? secret`. */
const firstWordOfLine = new RegExp(`^[\\s?-]*["']?([\\w-]{1,${longestFieldName}})["']?(?:[ =]|$)`);
/** `secret` in `main: { "secret"`. */
const lastWordOfText = /[\w-]+(?=["']?$)/;

/** Whether a line has the name of a secret: as its first word, or in front of a colon. */
function hasSecretName(line: string): boolean {
  const [, firstWord = ""] = firstWordOfLine.exec(line) ?? [];
  if (isSecretName(firstWord)) return true;

  // From colon to colon: a search in a long line without a colon would take quadratic time.
  for (const beforeColon of line.split(":").slice(0, -1)) {
    const end = beforeColon.trimEnd().slice(-longestFieldName);
    const [name = ""] = lastWordOfText.exec(end) ?? [];
    if (isSecretName(name)) return true;
  }
  return false;
}

/** Names that other tools give to a real key, which may be without its prefix there: `token`, `my_api_key`, not `tokenize`. */
const nameOfOtherTools = /(?:^|_)(?:token|api_?key)s?(?:_|$)/i;

/** Whether a field is a secret, even if misspelled, as in `secert` and `clientSecret`; other tools' names count only as whole words. */
export function isSecretName(name: string): boolean {
  const inSnakeCase = name.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  if (nameOfOtherTools.test(inSnakeCase)) return true;
  return inSnakeCase.split("_").some((word) => nearest(word, ["secret"]) !== undefined);
}

/** Whether the value of a field is a secret, by its name; one that is no text, such as a list, may be the name of a secret. */
export function isSecretField(key: Node): boolean {
  const name = keyText(key);
  return name === "" || isSecretName(name);
}

/** The ranges of the values of secrets, no matter what they look like. A name may contain its value: `secret:hunter2`. */
export function secretsIn(document: Document.Parsed): (readonly [start: number, end: number])[] {
  const secrets = new Set<Node>();
  const anchored = new Map<string, Node[]>();
  visit(document, {
    Pair(_, pair) {
      const { key, value } = pair as MapPair;
      const name = keyText(key);
      const [firstWord = ""] = /^[\w-]+/.exec(name) ?? [];
      const containsValue = firstWord !== name && isSecretName(firstWord);
      if (containsValue) secrets.add(key);
      if (isNode(value) && (containsValue || isSecretField(key))) secrets.add(value);
    },
    Value(_, node) {
      if (node.anchor === undefined) return;
      const nodes = anchored.get(node.anchor) ?? [];
      nodes.push(node as Node);
      anchored.set(node.anchor, nodes);
    },
  });

  // What an alias in a secret refers to is a secret, too, and may have aliases of its own: `hunter2` of `secret: *b` in
  // `x-b: &b [*a]` and `x-a: &a hunter2`. The set grows in this loop, which visits what is added.
  for (const secret of secrets) {
    visit(secret, {
      Alias(_, alias) {
        for (const target of anchored.get(alias.source) ?? []) secrets.add(target);
      },
    });
  }

  const ranges: (readonly [start: number, end: number])[] = [];
  for (const { range } of secrets) {
    if (range != null) ranges.push([range[0], range[1]]);
  }
  return ranges;
}
