import { positionOfWord } from "../response/words.js";
import { splitWords } from "./compare-texts.js";
import type { PlaceRow } from "./rejection-table.js";

/**
 * A text with a time, as in `09:00:05` or in seconds or milliseconds since 1970, `1772442000`: responses that follow one
 * another can have the same time, but none has an earlier one again.
 */
const withTime = /\d:\d\d:\d\d|\b\d{10}(?:\d{3})?\b/;

/**
 * Returns the positions at a place where a word came again. For the texts `id a`, `id b` and `id a`, that is the position of
 * `a`, and also those of `id` and of the space, which are in each text.
 *
 * In a text with a time, a word may be the one of the response before: the time can be the same, and with it all other words.
 */
export function findRepeatedPositions({ textsInOrder }: PlaceRow): Set<string> {
  const earlierByPosition = new Map<string, string[]>();
  const repeated = new Set<string>();
  for (const text of textsInOrder) {
    if (text === undefined) continue;
    const words = splitWords(text);
    const hasTime = withTime.test(text);
    for (const [index, word] of words.entries()) {
      const position = positionOfWord(index, words);
      const earlier = earlierByPosition.get(position) ?? [];
      const isAllowed = hasTime && earlier.at(-1) === word;
      if (earlier.includes(word) && !isAllowed) repeated.add(position);
      earlier.push(word);
      earlierByPosition.set(position, earlier);
    }
  }
  return repeated;
}
