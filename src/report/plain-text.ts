import { textWidth } from "../spec/redact.js";

/**
 * Returns rows of cells, which may be colored, as lines with aligned columns, two spaces apart. Lines have no trailing spaces.
 *
 * @example
 * alignColumns([["a", "1"], ["long", "2"]]); // ["a     1", "long  2"]
 */
export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, textWidth(cell));
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - textWidth(cell)))
      .join("  ")
      .trimEnd(),
  );
}

/** Returns a count with its noun: `1 request`, `2 requests`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Returns a command as a shell line for people; cuts a long one. */
export function commandLine(command: readonly string[], longest = 200): string {
  const line = command.map(shellWord).join(" ");
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** Returns the number of requests that caused an advice, or of lines of output. */
export function timesOf({ id, count }: { readonly id: string; readonly count: number }): string {
  return pluralize(count, id === "key-in-output" ? "line" : "request");
}
