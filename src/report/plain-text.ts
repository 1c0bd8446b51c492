import { oneSafeLine, textWidth } from "../rules/terminal-text.js";

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

/** A word to which no shell gives a meaning: `a=b`. At the start, `=` has one in zsh: `=ls` is the file of the command `ls`. */
const plainWord = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/**
 * What is written as bytes between `$'` and `'`: control characters and others outside of ASCII, the quote and the backslash. Also
 * `:` and `#`, because the word may have been made to forge a line of a log that GitHub's runner obeys: `::error::`, `##[error]`.
 */
const writtenAsBytes = /[^\x20-\x7E]|['\\:#]/gu;

/** Returns a word for a shell, on one line: with control characters in the `$'…'` of bash and zsh. */
export function shellWord(word: string): string {
  if (plainWord.test(word)) return word;
  if (oneSafeLine(word) === word) return `'${word.replaceAll("'", "'\\''")}'`;
  return `$'${word.replace(writtenAsBytes, octalBytes)}'`;
}

/** A character as the bytes of its UTF-8: `\303\244`. */
function octalBytes(character: string): string {
  let bytes = "";
  for (const byte of new TextEncoder().encode(character)) bytes += `\\${byte.toString(8).padStart(3, "0")}`;
  return bytes;
}

/** Returns a command as a shell line for people; cuts a long one. */
export function commandLine(command: readonly string[], longest = 200): string {
  const line = command.map(shellWord).join(" ");
  if (line.length <= longest) return line;
  return `${line.slice(0, longest)}…`;
}

/** The command that runs a client again: with `exec` or `certify`, a scenario and flags. */
export function rerunCommand(
  subcommand: string,
  words: readonly string[],
  clientCommand: readonly string[],
  program = "svc-sandbox",
): string {
  return commandLine([...program.split(" "), subcommand, ...words, "--", ...clientCommand], 2_000);
}
