import { type Document, isNode, type Node, visit } from "yaml";
import { nearest } from "../../schema/words.js";
import type { SourceText, TextRange } from "../redact-secrets.js";
import { indentOf, isEmptyOrComment } from "./places.js";
import { keyText, type MapPair } from "./read-yaml.js";

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
  const lines = linesAround(text.slice(lineStart, lineEnd), text.slice(0, lineStart));
  return lines.some(hasSecretName);
}

function endOfLine(text: string, lineStart: number): number {
  const end = text.indexOf("\n", lineStart);
  return end === -1 ? text.length : end;
}

/** A line, and the lines above that it may belong to. */
function linesAround(line: string, textAbove: string): string[] {
  const linesAbove = textAbove.split("\n").filter((above) => !isEmptyOrComment(above));
  linesAbove.reverse();

  // The line may continue the value of the line above, however it is indented.
  const lines = [line, ...linesAbove.slice(0, 1)];

  // It belongs to the nearest line above that is indented less, and that line to the next.
  let indent = indentOf(line);
  for (const above of linesAbove) {
    if (indentOf(above) >= indent) continue;
    lines.push(above);
    indent = indentOf(above);
  }
  return lines;
}

/** A longer name may be a secret itself. */
const longestFieldName = 100;

/** `secret` in `- secret = hunter2`. */
const firstWordOfLine = new RegExp(`^[\\s-]*["']?([\\w-]{1,${longestFieldName}})["']?[ =]`);
/** `secret` in `main: { "secret"`. */
const lastWordOfText = /[\w-]+(?=["']?$)/;

/** Whether a line has the name of a secret: as its first word, or in front of a colon. */
function hasSecretName(line: string): boolean {
  const [, firstWord = ""] = firstWordOfLine.exec(line) ?? [];
  if (isSecretName(firstWord)) return true;

  // From colon to colon: a search in a long line without a colon would take quadratic time.
  for (const beforeColon of line.split(":").slice(0, -1)) {
    const end = beforeColon.trimEnd().slice(-longestFieldName);
    const [name = ""] = lastWordOfText.exec(end) ?? [];
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

/** The ranges of the values of secrets, no matter what they look like. A name may contain its value: `secret:hunter2`. */
export function secretsIn(document: Document.Parsed): TextRange[] {
  const ranges: TextRange[] = [];
  const anchors = new Set<string>();
  visit(document, {
    Pair(_, pair) {
      const { key, value } = pair as MapPair;
      const name = keyText(key);
      const [firstWord = ""] = /^[\w-]+/.exec(name) ?? [];
      const containsValue = firstWord !== name && isSecretName(firstWord);
      if (!containsValue && !isSecretName(name)) return undefined;
      if (containsValue) addRange(ranges, key);
      if (isNode(value)) {
        addRange(ranges, value);
        addAnchors(anchors, value);
      }
      return visit.SKIP;
    },
  });

  if (anchors.size > 0) addAnchoredRanges(ranges, anchors, document);
  return ranges;
}

function addRange(ranges: TextRange[], { range }: Node): void {
  if (range != null) ranges.push([range[0], range[1]]);
}

/** Adds the anchors of all aliases in a value: `s` for `*s`. */
function addAnchors(anchors: Set<string>, value: Node): void {
  visit(value, {
    Alias(_, alias) {
      anchors.add(alias.source);
    },
  });
}

/** Adds the values with these anchors, which are the values of their aliases: `hunter2` in `x-of-key: &s hunter2`. */
function addAnchoredRanges(
  ranges: TextRange[],
  anchors: ReadonlySet<string>,
  document: Document.Parsed,
): void {
  visit(document, {
    Value(_, node) {
      if (node.anchor !== undefined && anchors.has(node.anchor)) addRange(ranges, node);
    },
  });
}
