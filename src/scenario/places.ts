import { charactersOf, printable, textWidth } from "../rules/terminal-text.js";
import { nearest } from "../schema/words.js";
import { type Place, redactSecrets, type SourcePlace, type SourceText } from "./problems.js";

export function createSource(text: string, file?: string): SourceText {
  // YAML allows a lone carriage return as a line end; a line feed is one for every reader and keeps the offsets.
  return { file, text: text.replace(/^\uFEFF/, "").replace(/\r(?!\n)/g, "\n"), secrets: undefined };
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

  const safe = (part: string) => printable(redactSecrets(part));
  // A shortened key moves the rest of the line to the left.
  const column = safe(text.slice(lineStart, at)).length + 1;
  const excerpt = excerptOf(safe(line), column);
  return { ...place, source: excerpt.text, caret: excerpt.caret };
}

/** The number of the line that starts at an offset. */
function lineNumberAt(text: string, lineStart: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end !== -1 && end < lineStart; end = text.indexOf("\n", end + 1)) {
    line += 1;
  }
  return line;
}

/** Whether a line contains a part of a secret, by the text's syntax tree, or by the names in the text if it has none. */
function hasPartOfSecret(source: SourceText, lineStart: number, line: string): boolean {
  const secrets = source.secrets?.();
  if (secrets === undefined) return mayBeOfSecret(source.text.slice(0, lineStart), line);
  const lineEnd = lineStart + line.length;
  return secrets.some(([start, end]) => start < lineEnd && end > lineStart);
}

/** Whether a line, or one that it belongs to, has the name of a secret: all that a text without a syntax tree shows. */
function mayBeOfSecret(textAbove: string, line: string): boolean {
  if (hasSecretName(line)) return true;

  // The line may continue the value of the one above, however it is indented.
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
  // Not searched as a whole: a long line without a colon would take quadratic time.
  for (const beforeColon of line.split(":").slice(0, -1)) {
    const end = beforeColon.trimEnd().slice(-longestFieldName);
    const [name = ""] = /[\w-]+(?=["']?$)/.exec(end) ?? [];
    if (isSecretName(name)) return true;
  }
  return false;
}

/** Names that other tools give to a real key, which may be without its prefix there. */
const nameOfOtherTools = /(?:^|_)(?:token|api_?key)s?(?:_|$)/i;

/** Whether a field is a secret, even if misspelled; other tools' names count only as whole words. */
export function isSecretName(name: string): boolean {
  const words = name.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  if (nameOfOtherTools.test(words)) return true;
  return words.split("_").some((word) => nearest(word, ["secret"]) !== undefined);
}

/** The maximum number of columns of an excerpt: with its indent, it fits in a terminal of 80. */
const excerptColumns = 72;

/** The part of a line around a column, and a caret that is right also after tabs and wide characters. */
function excerptOf(line: string, column: number) {
  const at = Math.min(Math.max(column - 1, 0), line.length);
  // Scenarios may have lines of a megabyte.
  const charactersBefore = charactersOf(line.slice(Math.max(0, at - 1_000), at));
  const charactersAfter = charactersOf(line.slice(at, at + 1_000));

  // The part before the column gets half of the columns, and those that the part after it leaves.
  const columnsLeft = excerptColumns - fitting(charactersAfter, excerptColumns).columns;
  const before = fitting(charactersBefore.reverse(), Math.max(excerptColumns / 2, columnsLeft));
  const after = fitting(charactersAfter, excerptColumns - before.columns);
  const start = at - before.length;
  const end = at + after.length;

  const textBefore = (start > 0 ? "…" : "") + line.slice(start, at);
  const textAfter = line.slice(at, end) + (end < line.length ? "…" : "");
  return { text: textBefore + textAfter, caret: `${asSpace(textBefore)}^` };
}

/** How many of the first characters fit in so many columns: their columns, and their length as a text. */
function fitting(characters: readonly string[], maxColumns: number): { columns: number; length: number } {
  const fit = { columns: 0, length: 0 };
  for (const character of characters) {
    // A tab has at least one.
    const columns = Math.max(1, textWidth(character));
    if (fit.columns + columns > maxColumns) break;
    fit.columns += columns;
    fit.length += character.length;
  }
  return fit;
}

/** Spaces as wide as a text, with its tabs. */
function asSpace(text: string): string {
  return text.replace(/[^\t]+/g, (part) => " ".repeat(textWidth(part)));
}
