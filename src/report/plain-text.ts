import { textWidth } from "../domain/printable.js";
/**
 * Rows of cells, which may be coloured, as lines with aligned columns, two spaces between them and none at the end. A
 * row that is wider than `width` goes on under its last cell, as `wrap` breaks that.
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

/** Breaks a text, which may be coloured, at its spaces into lines of at most a width; a longer word is not cut. */
export function wrapWords(text: string, width: number): string[] {
  return wrapAt(text.split(" "), width);
}

/** Breaks a command between its words, in a way that a shell still takes it for one. */
export function wrapCommand(text: string, width: number): string[] {
  // An option stays with its value.
  const words = text.match(/(?:-[HXdm] )?(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [text];
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

/** Returns a number of things: `1 request`, `2 requests`. */
export function pluralize(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A word as it is written on a command line: quoted where a shell would read something else. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command as a line for a shell, for people: a long one is cut. */
export function commandLine(command: readonly string[], longest = 200): string {
  const line = command.map(shellWord).join(" ");
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** Counts the requests that caused an advice, or the lines of an output. */
export function timesOf({ id, count }: { readonly id: string; readonly count: number }): string {
  return pluralize(count, id === "key-in-output" ? "line" : "request");
}
