// Controls (C0, C1), lone surrogates, line separators, marks that turn the reading direction, and what XML forbids.
const unprintable =
  /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu;

/** Replaces what could move the cursor, recolour a terminal or break a line: for texts that a client or server sent. */
export function escapeControls(text: string): string {
  return text.replace(unprintable, "\uFFFD");
}

// The only sequences that we write ourselves.
const colour = /^\[\d{1,2}m/;

/**
 * Returns a text of lines as it may be printed: of what plays with a terminal, line ends, tabs and, when `coloured`, colours
 * alone are left.
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
