/** A line of text to show to a person, and the line under it that points at a column. */
export interface Excerpt {
  readonly text: string;
  readonly caret: string;
}

/**
 * The part of a line around a column (counted from 1, in UTF-16 units), with a caret under it.
 *
 * Never throws. Tabs and wide characters before the column are matched, so that the caret stands where it should.
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
 * An excerpt in as many columns of a terminal as there are, its caret under the same character.
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

// A cut between the two halves of a surrogate pair would show a broken character.
function cutBefore(line: string, wanted: number): number {
  const index = Math.max(0, Math.floor(wanted));
  return /[\uDC00-\uDFFF]/.test(line[index] ?? "") ? index - 1 : index;
}

const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}]/u;
const doubleWidth =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;

// As much empty space as the text takes up in a terminal.
function blank(text: string): string {
  let space = "";
  for (const character of text) {
    if (character === "\t") space += "\t";
    else if (!zeroWidth.test(character)) space += doubleWidth.test(character) ? "  " : " ";
  }
  return space;
}
