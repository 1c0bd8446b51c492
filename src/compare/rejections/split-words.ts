import type { Words } from "../response/words.js";

/** A run of spaces, or what is between spaces and signs of JSON, with the sign after it. */
const wordPattern = /\s+|[^\s,:{[]*[,:{[]|[^\s,:{[]+/g;

/**
 * Splits a text in its words: `No key` has the words `No`, ` ` and `key`, and `{"a":1,"b":2}` has `{`, `"a":`, `1,`, `"b":`
 * and `2}`. An empty text has one empty word.
 */
export function splitWords(text: string): Words {
  return text.match(wordPattern) ?? [""];
}
