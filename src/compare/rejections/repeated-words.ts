import { nameOfWord } from "../response/words.js";
import { splitWords } from "./compare-texts.js";
import type { PlaceRow } from "./rejection-table.js";

/**
 * A text with a time, as in `09:00:05` or in seconds or milliseconds since 1970, `1772442000`: responses that follow one
 * another can have the same time, but none has an earlier one again.
 */
const withTime = /\d:\d\d:\d\d|\b\d{10}(?:\d{3})?\b/;

/**
 * Returns the names of the words at a place that are not new in each response. For `id a`, `id b`, `id a`, that is the name
 * of the third word, and also of `id` and the space. A time may be that of the response before.
 */
export function findRepeatedWords({ textsInOrder }: PlaceRow): Set<string> {
  const earlierByName = new Map<string, string[]>();
  const repeated = new Set<string>();
  for (const text of textsInOrder) {
    if (text === undefined) continue;
    const words = splitWords(text);
    const hasTime = withTime.test(text);
    for (const [index, word] of words.entries()) {
      const name = nameOfWord(index, words);
      const earlier = earlierByName.get(name) ?? [];
      const isTimeOfResponseBefore = hasTime && earlier.at(-1) === word;
      if (earlier.includes(word) && !isTimeOfResponseBefore) repeated.add(name);
      earlier.push(word);
      earlierByName.set(name, earlier);
    }
  }
  return repeated;
}
