import { charactersOf, printable, textWidth } from "../rules/terminal-text.js";
import { nearest } from "../schema/words.js";
import { type Place, redactSecrets, type SourcePlace, type SourceText } from "./problems.js";

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
  if (line.length > longestLine || hasPartOfSecret(source, lineStart, line)) return place;

  // The caret is below the line as it is shown, where a key before it is shortened.
  const shownBefore = safeToShow(text.slice(lineStart, at));
  const excerpt = excerptOf(safeToShow(line), shownBefore.length);
  return { ...place, source: excerpt.text, caret: excerpt.caret };
}

/** A part of a line without keys, and without what a terminal would obey. */
function safeToShow(part: string): string {
  return printable(redactSecrets(part));
}

/** The number of the line that starts at an offset. */
function lineNumberAt(text: string, lineStart: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end !== -1 && end < lineStart; end = text.indexOf("\n", end + 1)) {
    line += 1;
  }
  return line;
}

/** Whether a line contains a part of a secret. */
function hasPartOfSecret(source: SourceText, lineStart: number, line: string): boolean {
  // A text that is not valid YAML has only names to go by.
  if (source.secrets === undefined) return mayBeOfSecret(source.text.slice(0, lineStart), line);
  const lineEnd = lineStart + line.length;
  return source.secrets().some(([start, end]) => start < lineEnd && end > lineStart);
}

/** Whether a line, or another one that it belongs to, has the name of a secret. */
function mayBeOfSecret(textAbove: string, line: string): boolean {
  if (hasSecretName(line)) return true;

  // The line may continue the value of the line above, however it is indented.
  const linesAbove = textAbove.split("\n").filter((other) => other.trim() !== "");
  if (hasSecretName(linesAbove.at(-1) ?? "")) return true;

  // A line belongs to the nearest line above that is indented less, and that one to the next.
  let indent = indentOf(line);
  for (const outer of linesAbove.reverse()) {
    if (indentOf(outer) >= indent) continue;
    if (hasSecretName(outer)) return true;
    indent = indentOf(outer);
  }
  return false;
}

function indentOf(line: string): number {
  return line.search(/[^ ]|$/);
}

/** A longer name may be a secret itself. */
const longestFieldName = 100;

/** Whether the name in front of a colon is that of a secret. */
function hasSecretName(line: string): boolean {
  // From colon to colon: a search in a long line without a colon would take quadratic time.
  for (const beforeColon of line.split(":").slice(0, -1)) {
    const end = beforeColon.trimEnd().slice(-longestFieldName);
    // `secret` in `main: { "secret"`.
    const [name = ""] = /[\w-]+(?=["']?$)/.exec(end) ?? [];
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

/** The maximum number of columns of an excerpt: with its indent, it fits in a terminal of 80. */
const excerptColumns = 72;

/** The part of a line around a position, and a caret that is right also after tabs and wide characters. */
function excerptOf(line: string, position: number): { text: string; caret: string } {
  const at = Math.min(position, line.length);
  const charactersBefore = charactersOf(line.slice(0, at));
  const charactersAfter = charactersOf(line.slice(at));

  // The part before the position gets half of the columns, or more if the part after it needs fewer than that.
  const neededAfter = fitting(charactersAfter, excerptColumns).columns;
  const columnsBefore = Math.max(excerptColumns / 2, excerptColumns - neededAfter);
  const before = fitting(charactersBefore.reverse(), columnsBefore);
  const after = fitting(charactersAfter, excerptColumns - before.columns);
  const start = at - before.length;
  const end = at + after.length;

  const textBefore = (start > 0 ? "…" : "") + line.slice(start, at);
  const textAfter = line.slice(at, end) + (end < line.length ? "…" : "");
  return { text: textBefore + textAfter, caret: `${asSpace(textBefore)}^` };
}

/** How many of the first characters fit in so many columns: their columns, and their length as a text. */
function fitting(characters: readonly string[], maxColumns: number): { columns: number; length: number } {
  let columns = 0;
  let length = 0;
  for (const character of characters) {
    // A tab, and what has no width by itself, counts as one column.
    const width = Math.max(1, textWidth(character));
    if (columns + width > maxColumns) break;
    columns += width;
    length += character.length;
  }
  return { columns, length };
}

/** Spaces as wide as a text, with its tabs. */
function asSpace(text: string): string {
  return text.replace(/[^\t]+/g, (part) => " ".repeat(textWidth(part)));
}
