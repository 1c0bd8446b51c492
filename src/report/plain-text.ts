const colourCode = /\p{Cc}\[\d+m/gu;

/**
 * Rows of cells, which may be coloured, as lines with aligned columns, two spaces between them and none at the end.
 *
 * @example
 * alignColumns([["a", "1"], ["long", "2"]]); // ["a     1", "long  2"]
 */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widthOf = (cell = "") => cell.replace(colourCode, "").length;
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  }
  return rows.map((row) => {
    const last = row.length - 1;
    const padded = row.map((cell, column) =>
      column === last ? cell : cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)),
    );
    return padded.join("  ").trimEnd();
  });
}

// Controls, lone surrogates, line separators, marks that turn the reading direction, and what XML forbids.
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/gu;

/** Replaces what could move the cursor, recolour a terminal or break a line: for texts that a client or server sent. */
export function escapeControls(text: string): string {
  return text.replace(unprintable, "\uFFFD");
}

/** Returns a number of things: `1 request`, `2 requests`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
