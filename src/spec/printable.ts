// Controls (C0, C1), lone surrogates, line separators, marks that change the text direction, and characters that XML
// forbids.
const unprintable =
  /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu;

/**
 * Replaces characters that could move the cursor, color a terminal or break a line, in texts from a client or server.
 */
export function escapeControls(text: string): string {
  return text.replace(unprintable, "\uFFFD");
}

const colourCode = /\p{Cc}\[\d+m/gu;
const zeroWidth = /[\p{Mn}\p{Me}\p{Cf}]/u;
const doubleWidth =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF01-\uFF60\uFFE0-\uFFE6\u{1F300}-\u{1FAFF}\u{20000}-\u{3FFFD}]/u;

/** The width of a text, which may be colored, in terminal columns. */
export function textWidth(text: string): number {
  let columns = 0;
  for (const character of text.replace(colourCode, "")) {
    if (!zeroWidth.test(character)) columns += doubleWidth.test(character) ? 2 : 1;
  }
  return columns;
}

// The only sequences that we print.
const colour = /^\[\d{1,2}m/;

/**
 * Replaces control characters in a text so that it is safe to print. Line ends, tabs and, if `coloured`, colors remain.
 *
 * @example
 * printable("a\u001B[2Jb\n"); // "a\uFFFD[2Jb\n"
 */
export function printable(text: string, coloured = false): string {
  return text.replace(unprintable, (sign, at: number) => {
    if (sign === "\n" || sign === "\t" || (sign === "\r" && text[at + 1] === "\n")) return sign;
    // The byte order mark of a file.
    if (sign === "\uFEFF" && at === 0) return sign;
    return coloured && sign === "\u001B" && colour.test(text.slice(at + 1, at + 5)) ? sign : "\uFFFD";
  });
}
