import { faultKindRow, isFault } from "../rules/fault-effects.js";
import { keyVariable } from "../rules/keys/key-text.js";
import { mePath } from "../rules/paths.js";
import { oneSafeLine } from "../rules/terminal-text.js";
import type { ControlBody } from "../scenario/format/inputs.js";

/** A request that ends on an outcome, as a command for a shell with the environment of clients. */
export function curlLine(sent: ControlBody<"sending">, curlOptions: string, outcome: string): string {
  const { key, method, path = mePath } = sent;
  const words = ["curl"];
  if (curlOptions !== "") words.push(curlOptions);
  // Without a timeout, curl would wait forever.
  if (isFault(outcome) && faultKindRow(outcome).ends === "hang") words.push("-m 5");
  if (method === "HEAD") words.push("--head");
  else if (method !== undefined) words.push(`-X ${method}`);
  if (key !== "none") words.push(`-H "x-api-key: $${keyVariable(key)}"`);
  words.push(shellUrl(path));
  return words.join(" ");
}

/** The URL of a path, for a shell with the environment of clients. */
function shellUrl(path: string): string {
  // curl drops what is behind a `#`.
  const encoded = path.replaceAll("#", "%23");
  // Only these are plain in double quotes. curl resolves the segments `.` and `..`.
  const isPlain = /^[\w/.~:@%+,=?&;-]*$/.test(encoded);
  const hasDotSegment = /\/\.\.?(?:[/?]|$)/.test(encoded);
  if (isPlain && !hasDotSegment) return `"$SVC_BASE_URL${encoded}"`;
  return `--globoff --path-as-is "$SVC_BASE_URL"${shellWord(encoded)}`;
}

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
