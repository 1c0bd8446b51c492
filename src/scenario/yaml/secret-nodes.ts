import { type Document, isNode, visit } from "yaml";
import type { TextRange } from "../source-text.js";
import { isSecretName } from "./secret-lines.js";
import { keyText, type MapPair } from "./tree.js";

/** The ranges of the values of secrets, in order, no matter what they look like. A name may contain its value: `secret:hunter2`. */
export function secretsIn(document: Document.Parsed): TextRange[] {
  const ranges: TextRange[] = [];
  visit(document, {
    Pair(_, pair) {
      const { key, value } = pair as MapPair;
      const name = keyText(key);
      const [firstWord = ""] = /^[\w-]+/.exec(name) ?? [];
      const containsValue = firstWord !== name && isSecretName(firstWord);
      if (!containsValue && !isSecretName(name)) return undefined;
      if (containsValue && key.range != null) ranges.push([key.range[0], key.range[1]]);
      if (isNode(value) && value.range != null) ranges.push([value.range[0], value.range[1]]);
      return visit.SKIP;
    },
  });
  return ranges;
}
