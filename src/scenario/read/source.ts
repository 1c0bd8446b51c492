import { redactKeys } from "../../domain/redact.js";
import { excerptOf } from "../problems/excerpt.js";

/** The size of the largest scenario text that is read, in UTF-8 bytes: 1 MiB. */
export const maximumScenarioBytes = 1024 * 1024;

/** The text of a scenario and the name under which problems speak of it. */
export interface ScenarioSource {
  readonly file: string | undefined;
  /** Without a byte order mark, each line end a `\n` or `\r\n`. */
  readonly text: string;
  /** Where each line begins; made when first asked for. */
  readonly lineStarts: () => readonly number[];
  /** The line (index from 0) as it may be shown, see {@link redactLine}; remembered, since many problems may share it. */
  readonly shownLine: (index: number, text: string) => string;
}

/** Somewhere in the text of a scenario. */
export interface Place {
  readonly source: ScenarioSource;
  readonly offset: number;
}

/** A source for a text as it comes from a file or a request body. */
export function createSource(text: string, file?: string): ScenarioSource {
  // YAML allows a lone carriage return as a line end; as a line feed it is one for everybody, at the same offsets.
  const clean = text.replace(/^\uFEFF/, "").replace(/\r(?!\n)/g, "\n");
  let starts: number[] | undefined;
  const shown = new Map<number, string>();
  return {
    file,
    text: clean,
    lineStarts: () => {
      starts ??= findLineStarts(clean);
      return starts;
    },
    shownLine(index, line) {
      const known = shown.get(index) ?? redactLine(line);
      shown.set(index, known);
      return known;
    },
  };
}

/** The description of a place: line and column (both from 1), the text of the line, a caret for it. */
export interface PlaceDescription {
  readonly line: number;
  readonly column: number;
  readonly source: string;
  readonly caret: string;
}

/** The place as people look it up; the line is shown without keys. */
export function describePlace({ source, offset }: Place): PlaceDescription {
  const starts = source.lineStarts();
  // A problem at the end of the text is shown after its last visible character, not on the empty line behind it.
  const at = Math.max(0, Math.min(offset, source.text.trimEnd().length));
  const index = lastNotAfter(starts, at);
  const start = starts[index] ?? 0;
  const end = starts[index + 1] ?? source.text.length;
  const text = source.text.slice(start, end).replace(/\r?\n$/, "");
  const shown = source.shownLine(index, text);
  // Where a key was shortened, what comes after it has moved to the left. Nobody counts columns on an endless line.
  const moved = shown !== text && text.length < 10_000;
  const column = at - start + 1;
  const excerpt = excerptOf(shown, moved ? redactLine(text.slice(0, at - start)).length + 1 : column);
  return { line: index + 1, column, source: excerpt.text, caret: excerpt.caret };
}

function findLineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lastNotAfter(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] as number) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Whether the text is longer than {@link maximumScenarioBytes}. */
export function isTooLarge(text: string): boolean {
  // A UTF-16 unit is one to three bytes of UTF-8, so that most texts need not be encoded to know.
  if (text.length > maximumScenarioBytes) return true;
  if (text.length * 3 <= maximumScenarioBytes) return false;
  return new TextEncoder().encode(text).length > maximumScenarioBytes;
}

// What follows `secret:` may be a real key that only lacks its prefix, so it is shortened whatever it looks like.
const secretValue = /(\bsecret["']?\s*:\s*["']?)([^\s"',}#][^\s"',}]{3})([^\s"',}]+)/g;
// Characters that would move the cursor, recolour the terminal or reverse the text of a message.
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const control = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;

/**
 * A line of a scenario as it may be shown: keys shortened, also misspelt ones after `secret:` (R46), and nothing
 * invisible.
 *
 * @example
 * redactLine("secret: SVC_test_sbx123"); // "secret: SVC_test_…"
 */
export function redactLine(line: string): string {
  return redactKeys(line)
    .replace(secretValue, (whole, field, start, rest) => (rest.endsWith("…") ? whole : `${field}${start}…`))
    .replace(control, "\uFFFD");
}
