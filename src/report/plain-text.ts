import { textWidth } from "../domain/printable.js";
/**
 * Returns rows of cells, which may be colored, as lines with aligned columns, two spaces apart. `wrap` breaks the last cell
 * of a row that is wider than `width`. Lines have no trailing spaces.
 *
 * @example
 * alignColumns([["a", "1"], ["long", "2"]]); // ["a     1", "long  2"]
 */
export function alignColumns(
  rows: readonly (readonly string[])[],
  width = Number.POSITIVE_INFINITY,
  wrap = wrapWords,
): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, textWidth(cell));
  }
  return rows.flatMap((row) => {
    const before = row
      .slice(0, -1)
      .map((cell, column) => `${cell}${" ".repeat((widths[column] ?? 0) - textWidth(cell))}  `);
    const indent = textWidth(before.join(""));
    const [first, ...others] = wrap(row.at(-1) ?? "", width - indent);
    return [[...before, first].join("").trimEnd(), ...others.map((line) => " ".repeat(indent) + line)];
  });
}

/** Breaks a text, which may be colored, at spaces into lines of a maximum width; does not break words. */
export function wrapWords(text: string, width: number): string[] {
  return wrapAt(text.split(" "), width);
}

/** Breaks a command between words, so that a shell still accepts it. */
export function wrapCommand(text: string, width: number): string[] {
  // An option stays with its value.
  const words = text.match(/(?:-[HXdm] )?(?:"[^"]*"|'[^']*'|\\.|\S)+/g) ?? [text];
  return wrapAt(words, width - 4)
    .join(" \\\n  ")
    .split("\n");
}

function wrapAt(words: readonly string[], width: number): string[] {
  const [first = "", ...others] = words;
  const lines = [first];
  for (const word of others) {
    const longer = `${lines.at(-1)} ${word}`;
    if (textWidth(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/** Returns a count with its noun: `1 request`, `2 requests`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Quotes a word for a shell if necessary. */
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
