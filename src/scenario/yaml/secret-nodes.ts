import { type Document, isNode, type Node, visit } from "yaml";
import type { TextRange } from "../source-text.js";
import { isSecretName } from "./secret-lines.js";
import { keyText, type MapPair } from "./tree.js";

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
