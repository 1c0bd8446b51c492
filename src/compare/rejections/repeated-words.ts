import { positionOfWord } from "../response/words.js";
import type { TextAtPlace } from "./compare-texts.js";
import { splitWords } from "./split-words.js";

/** A text with a time: `09:00:05`, or since 1970 in seconds or in milliseconds, `1772442000` and `1772442000123`. */
const textWithTime = /\d:\d\d:\d\d|\b(?:\d{10}|\d{13})\b/;

/**
 * Whether a word came again at one of these positions, as `a` does in the texts `id a`, `id b` and `id a`.
 *
 * A time is no such word: two responses in one second have it both, as in `at 09:00:05`, `at 09:00:05`, `at 09:00:06`. In a
 * text with a time, a word may be that of the response before; but no earlier one comes again.
 */
export function isAnyWordRepeated(
  textsInOrder: readonly TextAtPlace[],
  positions: ReadonlySet<string>,
): boolean {
  const earlierByPosition = new Map<string, string[]>();
  for (const text of textsInOrder) {
    if (text === undefined) continue;
    const words = splitWords(text);
    const mayRepeatLatest = textWithTime.test(text);
    for (const [index, word] of words.entries()) {
      const position = positionOfWord(index, words);
      if (!positions.has(position)) continue;
      const earlier = earlierByPosition.get(position) ?? [];
      if (mayRepeatLatest && earlier.at(-1) === word) continue;
      if (earlier.includes(word)) return true;
      earlierByPosition.set(position, [...earlier, word]);
    }
  }
  return false;
}
