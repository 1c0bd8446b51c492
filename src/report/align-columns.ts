/** How one cell is coloured; columns and rows are counted from 0. */
export type Paint = (text: string, row: number, column: number) => string;

/**
 * Rows of cells as lines with aligned columns, two spaces between them and none at the end.
 *
 * @example
 * alignColumns([["a", "1"], ["long", "2"]]); // ["a     1", "long  2"]
 */
export function alignColumns(rows: readonly (readonly string[])[], paint: Paint = (text) => text): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    }
  }
  return rows.map((row, index) =>
    row
      .map((cell, column) => {
        const padding = column === row.length - 1 ? "" : " ".repeat((widths[column] ?? 0) - cell.length);
        return paint(cell, index, column) + padding;
      })
      .join("  ")
      .trimEnd(),
  );
}
