/** One line of the bench's table: a ratio, what it was hoped to be, and how it came about. */
export interface Figure {
  readonly name: string;
  readonly ratio: number;
  /** The best and the worst round. */
  readonly spread?: string;
  readonly target: { readonly atLeast: number } | { readonly atMost: number };
}

/** Whether the ratio is where it was hoped to be. */
export function isMet({ ratio, target }: Figure): boolean {
  return "atLeast" in target ? ratio >= target.atLeast : ratio <= target.atMost;
}

/** The figures as an aligned table. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.name,
    figure.ratio.toFixed(2),
    figure.spread ?? "",
    "atLeast" in figure.target ? `≥ ${figure.target.atLeast}` : `≤ ${figure.target.atMost}`,
    isMet(figure) ? "met" : "missed",
  ]);
  const table = [["", "ratio", "spread", "target", ""], ...rows];
  const widths = (table[0] as string[]).map((_, column) =>
    Math.max(...table.map((row) => (row[column] as string).length)),
  );
  return table
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] as number)).join("  ").trimEnd())
    .join("\n");
}
