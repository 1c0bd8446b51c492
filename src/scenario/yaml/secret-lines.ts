import { nearest } from "../../schema/words.js";
import type { SourceText } from "../source-text.js";
import { indentOf, isEmptyOrComment } from "./lines.js";

// Which lines of a text are not shown, because they contain a part of a secret.

/** Whether the line at an offset contains a part of a secret. */
export function hasPartOfSecret(source: SourceText, offset: number): boolean {
  const { text, secrets } = source;
  const lineStart = offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
  const lineEnd = endOfLine(text, lineStart);
  if (secrets !== undefined) {
    return secrets().some(([start, end]) => start < lineEnd && end > lineStart);
  }
  // A text that is not valid YAML has only names to go by.
  return mayBeOfSecret(text.slice(0, lineStart), text.slice(lineStart, lineEnd));
}

function endOfLine(text: string, lineStart: number): number {
  const end = text.indexOf("\n", lineStart);
  return end === -1 ? text.length : end;
}

/** Whether a line, or another one that it belongs to, has the name of a secret. */
function mayBeOfSecret(textAbove: string, line: string): boolean {
  if (hasSecretName(line)) return true;

  // The line may continue the value of the line above, however it is indented.
  const linesAbove = textAbove.split("\n").filter((other) => !isEmptyOrComment(other));
  if (hasSecretName(linesAbove.at(-1) ?? "")) return true;

  // A line belongs to the nearest line above that is indented less, and that line to the next.
  let indent = indentOf(line);
  for (const outer of linesAbove.reverse()) {
    if (indentOf(outer) >= indent) continue;
    if (hasSecretName(outer)) return true;
    indent = indentOf(outer);
  }
  return false;
}

/** A longer name may be a secret itself. */
const longestFieldName = 100;

/** Whether a line has the name of a secret: in front of a colon, or as its first word, as in `secret = hunter2`. */
function hasSecretName(line: string): boolean {
  const [, firstWord = ""] = /^[\s-]*["']?([\w-]{1,100})["']?[ =]/.exec(line) ?? [];
  if (isSecretName(firstWord)) return true;

  // From colon to colon: a search in a long line without a colon would take quadratic time.
  for (const beforeColon of line.split(":").slice(0, -1)) {
    const end = beforeColon.trimEnd().slice(-longestFieldName);
    // `secret` in `main: { "secret"`.
    const [name = ""] = /[\w-]+(?=["']?$)/.exec(end) ?? [];
    if (isSecretName(name)) return true;
  }
  return false;
}

/** Names that other tools give to a real key, which may be without its prefix there: `token`, `my_api_key`, not `tokenize`. */
const nameOfOtherTools = /(?:^|_)(?:token|api_?key)s?(?:_|$)/i;

/** Whether a field is a secret, even if misspelled, as in `secert` and `clientSecret`; other tools' names count only as whole words. */
export function isSecretName(name: string): boolean {
  const inSnakeCase = name.replace(/([a-z])([A-Z])/g, "$1_$2").replaceAll("-", "_");
  if (nameOfOtherTools.test(inSnakeCase)) return true;
  return inSnakeCase.split("_").some((word) => nearest(word, ["secret"]) !== undefined);
}
