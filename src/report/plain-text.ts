/** A color with its escape character, such as `\x1B[31m`. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a color starts with one.
const color = /\x1B\[\d{1,2}m/g;

/** The length of a text without its colors. */
export function textWidth(text: string): number {
  return text.replaceAll(color, "").length;
}

/**
 * Returns rows of cells, which may be colored, as lines with aligned columns, two spaces apart. Lines have no trailing spaces.
 *
 * @example
 * alignColumns([["a", "1"], ["long", "2"]]); // ["a     1", "long  2"]
 */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, textWidth(cell));
    }
  }

  const lines: string[] = [];
  for (const row of rows) {
    const padded = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - textWidth(cell)));
    lines.push(padded.join("  ").trimEnd());
  }
  return lines;
}

/** Returns a count with its noun: `1 request`, `2 requests`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A text in lines of at most this length, if its words are not longer. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
