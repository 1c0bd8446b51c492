import { nearest } from "../rules/schema/words.js";
import { charactersOf, printable, textWidth } from "../rules/terminal-text.js";
import { type Place, redactSecrets, type SourcePlace, type SourceText } from "./problems.js";

export function createSource(text: string, file?: string): SourceText {
  // YAML allows a lone carriage return as a line end; a line feed is one for every reader and keeps the offsets.
  return { file, text: text.replace(/^\uFEFF/, "").replace(/\r(?!\n)/g, "\n"), secrets: undefined };
}

export function placeAt(source: SourceText, offset: number): SourcePlace {
  return { source, offset, describe: () => describe(source, offset) };
}

const longestLine = 1000;

/** Describes a place; the line is shown without keys, and not at all if it contains a part of a secret (R46). */
function describe({ file, text, secrets }: SourceText, offset: number): Place {
  // A problem at the end of the text is shown after its last visible character, not on the next empty line.
  const at = Math.max(0, Math.min(offset, text.trimEnd().length));
  const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const line = lineAt(text, start);
  const column = at - start + 1;
  const [whole = ""] = text.slice(start, start + longestLine + 1).split(/\r?\n/);
  const end = start + whole.length;
  const isSecret =
    secrets?.().some(([from, until]) => from < end && until > start) ??
    mayBeSecret(text.slice(0, start), whole);
  const place = { ...(file !== undefined && { file }), line, column };
  if (isSecret || whole.length > longestLine) return place;
  const safe = (part: string) => printable(redactSecrets(part));
  // A shortened key moves the rest of the line to the left.
  const excerpt = excerptOf(safe(whole), safe(text.slice(start, at)).length + 1);
  return { ...place, source: excerpt.text, caret: excerpt.caret };
}

/** The maximum number of columns of an excerpt: with its indent, it fits in a terminal of 80. */
const excerptColumns = 72;

/** The part of a line around a column, and a caret that is right also after tabs and wide characters. */
export function excerptOf(line: string, column: number) {
  const at = Math.min(Math.max(column - 1, 0), line.length);
  // Scenarios may have lines of a megabyte.
  const before = charactersOf(line.slice(Math.max(0, at - 1_000), at)).reverse();
  const after = charactersOf(line.slice(at, at + 1_000));
  const left = fitting(
    before,
    Math.max(excerptColumns / 2, excerptColumns - fitting(after, excerptColumns).columns),
  );
  const right = fitting(after, excerptColumns - left.columns);
  const [start, end] = [at - left.length, at + right.length];
  const head = (start > 0 ? "…" : "") + line.slice(start, at);
  return { text: head + line.slice(at, end) + (end < line.length ? "…" : ""), caret: `${blank(head)}^` };
}

/** The first characters that fit in so many columns. */
function fitting(characters: readonly string[], limit: number): { columns: number; length: number } {
  const fit = { columns: 0, length: 0 };
  for (const character of characters) {
    // A tab has at least one.
    const columns = Math.max(1, textWidth(character));
    if (fit.columns + columns > limit) break;
    fit.columns += columns;
    fit.length += character.length;
  }
  return fit;
}

function blank(text: string): string {
  return text.replace(/[^\t]+/g, (part) => " ".repeat(textWidth(part)));
}

/** The number of the line that starts at an offset. */
function lineAt(text: string, start: number): number {
  let line = 1;
  for (let end = text.indexOf("\n"); end !== -1 && end < start; end = text.indexOf("\n", end + 1)) line += 1;
  return line;
}

/** A longer name may be a secret. */
const maximumName = 100;

// Without a syntax tree: whether a line, or one that it belongs to, has the name of a secret.
function mayBeSecret(before: string, line: string): boolean {
  // Not searched as a whole: a long line without a colon would take quadratic time.
  const named = (one: string) =>
    one
      .split(":")
      .slice(0, -1)
      .some((part) => isOfSecret(/[\w-]+(?=["']?$)/.exec(part.trimEnd().slice(-maximumName))?.[0] ?? ""));
  const indentOf = (one: string) => one.search(/\S|$/);
  let indent = indentOf(line);
  if (named(line)) return true;
  const above = before.split("\n").filter((one) => one.trim() !== "");
  if (named(above.at(-1) ?? "")) return true;
  return above.reverse().some((one) => {
    if (indentOf(one) >= indent) return false;
    indent = indentOf(one);
    return named(one);
  });
}

// Fields with these names may contain a real key without its prefix.
const otherName = /(?:^|_)(?:token|api_?key)s?(?:_|$)/i;

/** Whether a field is a secret, even if misspelled; other tools' names count only as whole words. */
export function isOfSecret(name: string): boolean {
  const words = name.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  return otherName.test(words) || words.split("_").some((word) => nearest(word, ["secret"]) !== undefined);
}
