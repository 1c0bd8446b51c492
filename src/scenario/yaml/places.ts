import { safeOutput } from "../../rules/terminal-text.js";
import { charactersOf, textWidth } from "../../rules/text-width.js";
import {
  type FieldProblem,
  type Place,
  redactSecrets,
  type SourcePlace,
  type SourceText,
} from "../problems.js";
import { hasPartOfSecret } from "./secrets.js";

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
