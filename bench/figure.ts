import { median } from "./median.js";

/** One line of the bench's table: what was measured again and again, always as a ratio, and what was hoped for. */
export interface Figure {
  readonly name: string;
  readonly ratio: number;
  /** The smallest and the largest ratio of all rounds; of one round, only itself. */
  readonly spread: readonly [smallest: number, largest: number];
  /** Left out where a figure is taken for information alone. */
  readonly target?: Target;
}

type Target = { readonly atLeast: number } | { readonly atMost: number };

/** The figure of many rounds: their median. */
export function figureOf(name: string, ratios: readonly number[], target?: Target): Figure {
  const spread = [Math.min(...ratios), Math.max(...ratios)] as const;
  return { name, ratio: median(ratios), spread, ...(target !== undefined && { target }) };
}

/** The figures as a table for people, each that has a target with the word whether it is met. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = [["", "ratio", "spread", "target", ""], ...figures.map(figureRow)];
  const widths = [0, 1, 2, 3, 4].map((column) =>
    Math.max(...rows.map((row) => (row[column] as string).length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function figureRow({ name, ratio, spread: [smallest, largest], target }: Figure): string[] {
  const range = smallest === largest ? "" : `${smallest.toFixed(2)}–${largest.toFixed(2)}`;
  if (target === undefined) return [name, ratio.toFixed(2), range, "", ""];
  const isMet = "atLeast" in target ? ratio >= target.atLeast : ratio <= target.atMost;
  const hope = "atLeast" in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
  return [name, ratio.toFixed(2), range, hope, isMet ? "met" : "missed"];
}
