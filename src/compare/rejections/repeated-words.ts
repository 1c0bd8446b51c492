import { positionOfWord } from "../response/words.js";
import { splitWords, type TextAtPlace } from "./compare-texts.js";

/**
 * A text with a time, as in `09:00:05` or in seconds or milliseconds since 1970, `1772442000`: responses that follow one
 * another can have the same time, but none has an earlier one again.
 */
const withTime = /\d:\d\d:\d\d|\b\d{10}(?:\d{3})?\b/;

/**
 * Whether a word came again at one of these positions, as `a` does in the texts `id a`, `id b` and `id a`.
 *
 * In a text with a time, a word may be the one of the response before: the time can be the same, and with it all other words.
 */
export function isAnyWordRepeated(
  textsInOrder: readonly TextAtPlace[],
  positions: ReadonlySet<string>,
): boolean {
  const earlierByPosition = new Map<string, string[]>();
  for (const text of textsInOrder) {
    if (text === undefined) continue;
    const words = splitWords(text);
    const hasTime = withTime.test(text);
    for (const [index, word] of words.entries()) {
      const position = positionOfWord(index, words);
      if (!positions.has(position)) continue;
      const earlier = earlierByPosition.get(position) ?? [];
      const isSameTime = hasTime && earlier.at(-1) === word;
      if (earlier.includes(word) && !isSameTime) return true;
      earlier.push(word);
      earlierByPosition.set(position, earlier);
    }
  }
  return false;
}
