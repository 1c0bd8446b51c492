import { printable, textWidth } from "../../domain/printable.js";
import { redactKeys } from "../../domain/redact.js";
import { nearest } from "../../schema/words.js";

/** The text of a scenario and its file name in problems. */
export interface ScenarioSource {
  readonly file: string | undefined;
  /** Without a byte order mark, each line end a `\n` or `\r\n`. */
  readonly text: string;
  /** The redacted lines, by offset, because many problems may share a line. */
  readonly shown: Map<number, string>;
  /** The offsets of lines that continue the value of a secret; computed for the first problem. */
  secretLines?: ReadonlySet<number>;
}

/** A place in the text of a scenario. */
export interface Place {
  readonly source: ScenarioSource;
  readonly offset: number;
  /** Describes the place. Comes with the reader of the text, so that pages without the reader do not load it. */
  readonly describe: () => PlaceDescription;
}

/** A place for people: line and column (both start at 1), the text of the line and its caret. */
export interface PlaceDescription {
  readonly line: number;
  readonly column: number;
  readonly source: string;
  readonly caret: string;
}

/** Describes a place; the line is shown without keys. */
export function describePlace({ source, offset }: Pick<Place, "source" | "offset">): PlaceDescription {
  const { text, shown } = source;
  // A problem at the end of the text is shown after its last visible character, not on the next empty line.
  const at = Math.max(0, Math.min(offset, text.trimEnd().length));
  const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const end = text.indexOf("\n", at);
  const written = text.slice(start, end === -1 ? undefined : end).replace(/\r$/, "");
  source.secretLines ??= secretLinesOf(text);
  const isSecret = source.secretLines.has(start);
  const line = shown.get(start) ?? redactLine(written, isSecret);
  shown.set(start, line);
  // A shortened key moves the rest of the line to the left. Ignored on very long lines.
  const moved = line !== written && written.length < 10_000;
  const column = at - start + 1;
  const excerpt = excerptOf(line, moved ? redactLine(text.slice(start, at), isSecret).length + 1 : column);
  const number = text.slice(0, start).split("\n").length;
  return { line: number, column, source: excerpt.text, caret: excerpt.caret };
}

/**
 * A line of a scenario that is safe to show: without invisible characters, with keys, values of secrets and similar
 * texts shortened (R46). `isSecret`: the line continues the value of a secret.
 *
 * @example
 * redactLine("secret: SVC_test_sbx123"); // "secret: SVC_test_…"
 */
export function redactLine(line: string, isSecret = false): string {
  const text = redactKeys(line);
  let shown = "";
  let from = 0;
  for (const [start, end] of isSecret ? [[0, text.length] as const] : secretsIn(text)) {
    shown += text.slice(from, start) + text.slice(start, end).replace(longWord, shortened);
    from = end;
  }
  return printable(redactSecrets(shown + text.slice(from)));
}

/** A text without possible keys, with a prefix or not: long runs of letters and digits that are not words. */
export function redactSecrets(text: string): string {
  const isWord = (run: string) => !/\d/.test(run) && (run.length < 20 || /^[A-Z]?[a-z]+$|^[A-Z]+$/.test(run));
  return redactKeys(text).replace(/[A-Za-z0-9]{16,}/g, (run) => (isWord(run) ? run : shortened(run)));
}

const longWord = /[^\s"',]{5,}/g;
const shortened = (word: string) => (word.endsWith("…") ? word : `${word.slice(0, 4)}…`);

// Fields with these names may contain a real key without its prefix.
const otherName = /(?:^|_)(?:token|api_?key)s?(?:_|$)/i;

/** Whether a field is a secret, even if misspelled; other tools' names count only as whole words. */
function isOfSecret(name: string): boolean {
  const words = name.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  return otherName.test(words) || words.split("_").some((word) => nearest(word, ["secret"]) !== undefined);
}

// Bounded, so that a very long line does not take very long.
const nameOfField = /([\w-]{1,30})["']?\s{0,9}:/g;

/** The parts of a line, as `[start, end]`, that are values of secrets, no matter what they look like. */
function secretsIn(line: string): (readonly [start: number, end: number])[] {
  const found: [number, number][] = [];
  for (const { 0: whole, 1: name = "", index } of line.matchAll(nameOfField)) {
    if (index < (found.at(-1)?.[1] ?? 0) || !isOfSecret(name)) continue;
    const start = index + whole.length;
    found.push([start, endOfValue(line, start)]);
  }
  return found;
}

// Up to the comma, bracket or comment that ends the value, or the end of the line.
function endOfValue(line: string, start: number): number {
  const pieces = /"(?:[^"\\]|\\.){0,300}"|'[^']{0,300}'|[[{]|[\]}]|,(?=\s|$)|\s#/g;
  pieces.lastIndex = start;
  let depth = 0;
  for (let piece = pieces.exec(line); piece !== null; piece = pieces.exec(line)) {
    const [sign = ""] = piece;
    if (/^["']/.test(sign)) continue;
    if (/[[{]/.test(sign)) depth += 1;
    else if (depth === 0) return piece.index;
    else if (/[\]}]/.test(sign)) depth -= 1;
  }
  return line.length;
}

// A value continues in lines with deeper indentation: after an anchor, in a mapping, in a block.
function secretLinesOf(text: string): ReadonlySet<number> {
  const lines = new Set<number>();
  let indent: number | undefined;
  let offset = 0;
  for (const line of text.split("\n")) {
    const own = line.search(/\S/);
    if (own !== -1 && indent !== undefined && own <= indent) indent = undefined;
    if (indent !== undefined) lines.add(offset);
    else if (secretsIn(line).at(-1)?.[1] === line.length) indent = own;
    offset += line.length + 1;
  }
  return lines;
}

/** A line of text to show to a person, and the line under it that points at a column. */
export interface Excerpt {
  readonly text: string;
  readonly caret: string;
}

/**
 * The part of a line around a column (counted from 1, in UTF-16 units), with a caret under it.
 *
 * Never throws. Tabs and wide characters before the column are matched, so that the caret is at the right place.
 *
 * @example
 * excerptOf("  perMinute: 60", 3); // { text: "  perMinute: 60", caret: "  ^" }
 */
export function excerptOf(line: string, column: number, width = 100): Excerpt {
  const at = Math.min(Math.max(column - 1, 0), line.length);
  const start = line.length <= width ? 0 : cutBefore(line, Math.min(at - width / 2, line.length - width));
  const end = line.length <= width ? line.length : cutBefore(line, start + width);
  const before = (start > 0 ? "…" : "") + line.slice(start, at);
  const text = before + line.slice(at, Math.max(end, at)) + (end < line.length ? "…" : "");
  return { text, caret: `${blank(before)}^` };
}

/**
 * Shortens an excerpt to a number of terminal columns, with its caret under the same character.
 *
 * @example
 * narrowExcerpt(excerptOf("    expect: { status: 200 }", 23), 12); // { text: "…tatus: 200…", caret: "         ^" }
 */
export function narrowExcerpt(excerpt: Excerpt, columns: number): Excerpt {
  const { text, caret } = excerpt;
  let at = 0;
  while (at < text.length && blank(text.slice(0, at)).length < caret.length - 1) at += 1;
  let narrow = excerpt;
  for (let width = columns; width > 0 && blank(narrow.text).length > columns; width -= 1) {
    narrow = excerptOf(text, at + 1, width);
  }
  return narrow;
}

// Not between the halves of a surrogate pair, which would show a broken character.
function cutBefore(line: string, wanted: number): number {
  const index = Math.max(0, Math.floor(wanted));
  return /[\uDC00-\uDFFF]/.test(line[index] ?? "") ? index - 1 : index;
}

// Empty space as wide as the text in a terminal.
function blank(text: string): string {
  return Array.from(text, (one) => (one === "\t" ? one : " ".repeat(textWidth(one)))).join("");
}
