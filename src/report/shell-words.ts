import { oneSafeLine } from "../rules/terminal-text.js";

/** A word to which no shell gives a meaning: `a=b`. At the start, `=` has one in zsh: `=ls` is the file of the command `ls`. */
const plainWord = /^[\w@%+:,./-][\w@%+=:,./-]*$/;

/**
 * What is written as bytes between `$'` and `'`: control characters and others outside of ASCII, the quote and the backslash. Also
 * `:` and `#`: such a word may have line breaks, made to start a line of a log that GitHub's runner obeys: `::error::`, `##[error]`.
 * A word without them starts no line, so there both stay as they are.
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
  // Not within a character of two units, such as an emoji: a half of it is no character.
  const isWithinCharacter = (line.codePointAt(longest - 1) as number) > 0xffff;
  return `${line.slice(0, isWithinCharacter ? longest - 1 : longest)}…`;
}

/** The command that runs a client again: with `exec` or `certify`, a scenario and flags. */
export function rerunCommand(
  subcommand: string,
  words: readonly string[],
  clientCommand: readonly string[],
  program = "svc-sandbox",
): string {
  const command = [...program.split(" "), subcommand, ...words, "--", ...clientCommand];
  // Never cut, as `commandLine` cuts: a user runs this command, and a part of a command does something else, or nothing.
  return command.map(shellWord).join(" ");
}
