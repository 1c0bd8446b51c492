import { alignColumns } from "../src/report/plain-text.js";

/** One line of the bench's table: a measurement of several rounds, mostly a ratio, and its target. */
export type Figure = Readonly<{ name: string; rounds: readonly number[]; target?: Target | undefined }>;

type Target = { readonly atLeast: number } | { readonly atMost: number };

export function figureOf(name: string, rounds: readonly number[], target?: Target): Figure {
  return { name, rounds, target };
}

/** The figures as a table: the median of the rounds, the smallest and the largest, and whether the target is reached. */
export function figureTable(figures: readonly Figure[]): string {
  const rows = [["", "median", "spread", "target", ""], ...figures.map(figureRow)];
  return alignColumns(rows).join("\n");
}

/** One figure, for a reader who waits for the others. */
export function figureLine(figure: Figure): string {
  return figureRow(figure).filter(Boolean).join("  ");
}

function figureRow({ name, rounds, target }: Figure): string[] {
  const value = median(rounds);
  const spread = `${Math.min(...rounds).toFixed(2)}–${Math.max(...rounds).toFixed(2)}`;
  if (target === undefined) return [name, value.toFixed(2), spread, "", ""];
  const isMet = "atLeast" in target ? value >= target.atLeast : value <= target.atMost;
  const sign = "atLeast" in target ? `≥ ${target.atLeast}` : `≤ ${target.atMost}`;
  return [name, value.toFixed(2), spread, sign, isMet ? "met" : "missed"];
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
