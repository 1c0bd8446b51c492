import { printable, redactKeys, textWidth } from "../../spec/redact.js";
import { nearest } from "../../spec/schema/words.js";

/** The text of a scenario and its file name in problems. */
export interface ScenarioSource {
  readonly file: string | undefined;
  /** Without a byte order mark, each line end a `\n` or `\r\n`. */
  readonly text: string;
  /** The values of secrets as `[start, end]`, in order; `undefined` if the text is not valid YAML: no line is shown then. */
  secrets: readonly TextRange[] | undefined;
}

export type TextRange = readonly [start: number, end: number];

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
  readonly source?: string;
  readonly caret?: string;
}

/** The number of characters before and after a place that are searched for keys: more than an excerpt has. */
const searched = 1000;

/** Describes a place; the line is shown without keys. */
export function describePlace({ source, offset }: Pick<Place, "source" | "offset">): PlaceDescription {
  const { text, secrets } = source;
  // A problem at the end of the text is shown after its last visible character, not on the next empty line.
  const at = Math.max(0, Math.min(offset, text.trimEnd().length));
  const start = at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
  const line = text.slice(0, start).split("\n").length;
  const column = at - start + 1;
  if (secrets === undefined) return { line, column };
  const lineEnd = text.indexOf("\n", at);
  const end = Math.min(lineEnd === -1 ? text.length : lineEnd, at + searched);
  const first = Math.max(start, at - searched);
  const safe = (until: number) => withoutSecrets(text.slice(first, until), first, secrets);
  // A shortened key moves the rest of the line to the left.
  const excerpt = excerptOf(safe(end).replace(/\r$/, ""), safe(at).length + 1);
  return { line, column, source: excerpt.text, caret: excerpt.caret };
}

// A part of a text, from an offset, that is safe to show: without invisible characters, with keys, values of secrets and
// similar texts shortened (R46).
function withoutSecrets(part: string, offset: number, secrets: readonly TextRange[]): string {
  let shown = "";
  let from = 0;
  for (const [start, end] of secrets) {
    const [first, last] = [start - offset, end - offset].map((at) =>
      Math.max(from, Math.min(at, part.length)),
    );
    const secret = redactKeys(part.slice(first, last));
    shown += part.slice(from, first) + secret.replace(/[^\s"',]{5,}/g, shortened);
    from = last as number;
  }
  return printable(redactSecrets(shown + part.slice(from)));
}

/** A text without possible keys, with a prefix or not: long runs of letters and digits that are not words. */
export function redactSecrets(text: string): string {
  const isWord = (run: string) => !/\d/.test(run) && (run.length < 20 || /^[A-Z]?[a-z]+$|^[A-Z]+$/.test(run));
  return redactKeys(text).replace(/[A-Za-z0-9]{16,}/g, (run) => (isWord(run) ? run : shortened(run)));
}

const shortened = (word: string) => (word.endsWith("…") ? word : `${word.slice(0, 4)}…`);

// Fields with these names may contain a real key without its prefix.
const otherName = /(?:^|_)(?:token|api_?key)s?(?:_|$)/i;

/** Whether a field is a secret, even if misspelled; other tools' names count only as whole words. */
export function isOfSecret(name: string): boolean {
  const words = name.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  return otherName.test(words) || words.split("_").some((word) => nearest(word, ["secret"]) !== undefined);
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
