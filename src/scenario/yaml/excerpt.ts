import { charactersOf, textWidth } from "../../rules/terminal-text.js";

// A long line is shown around the place of its problem.

/** The maximum number of columns of an excerpt: with its indent, it fits in a terminal of 80. */
const excerptColumns = 72;

/** The part of a line around a position, and a caret that is right also after tabs and wide characters. */
export function excerptOf(line: string, position: number): { text: string; caret: string } {
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
