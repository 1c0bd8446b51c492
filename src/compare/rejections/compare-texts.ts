import type { PromisedOutcomeId } from "../contract/contract-rules.js";

/** The text of a response to a cause at a place; `undefined` if the response does not have the place. */
export interface TextOfCause {
  readonly cause: PromisedOutcomeId;
  readonly text: string | undefined;
}

/**
 * What the texts at a place show, if they are not all the same:
 * - `agrees`: they are the same without the words that are new in each response, such as ids
 * - `differs`: some causes always have another text than the baseline
 * - `open`: nobody can tell, since texts of one cause differ in other words, too: nodes, times or chance
 */
export type TextComparison =
  | { readonly kind: "agrees" | "open" }
  | {
      readonly kind: "differs";
      readonly baseline: PromisedOutcomeId;
      /** The text of each cause, with `…` for words that are new in each response. */
      readonly textsByCause: ReadonlyMap<PromisedOutcomeId, string | undefined>;
    };

/** The causes to compare with, the best one first: unknown keys are other ones each time, so they meet all nodes. */
const baselineCauses: readonly PromisedOutcomeId[] = ["401.unknown", "401.malformed", "401.missing"];

/** A run of spaces, or what is between spaces and signs of JSON, with the sign after it. */
const wordPattern = /\s+|[^\s,:{[]*[,:{[]|[^\s,:{[]+/g;

/** A text with a time: `09:00:05`, or since 1970 in seconds or in milliseconds, `1772442000` and `1772442000123`. */
const textWithTime = /\d:\d\d:\d\d|\b(?:\d{10}|\d{13})\b/;

/** Compares the texts at a place, which are in the order of their requests. */
export function compareTexts(texts: readonly TextOfCause[]): TextComparison {
  const newWords = findNewWords(texts);
  const textsByCause = new Map<PromisedOutcomeId, string | undefined>();
  for (const { cause, text } of texts) {
    const constant = text === undefined ? undefined : withoutNewWords(splitWords(text), newWords);
    if (textsByCause.has(cause) && textsByCause.get(cause) !== constant) return { kind: "open" };
    textsByCause.set(cause, constant);
  }

  const constants = new Set(textsByCause.values());
  if (constants.size === 1) return { kind: "agrees" };
  // Where there is nothing but new words, a server may choose the text by the key, and not by the cause.
  for (const constant of constants) if (/^\s*…[…\s]*$/.test(constant ?? "")) return { kind: "open" };
  return { kind: "differs", baseline: chooseBaseline(textsByCause), textsByCause };
}

/** Splits a text in its words: `No key` has the words `No`, ` ` and `key`; an empty text has one empty word. */
function splitWords(text: string): readonly string[] {
  return text.match(wordPattern) ?? [""];
}

/** `word 3 of 3` for `key` in `No key`: words of texts of different lengths are never compared. */
function positionOf(index: number, { length }: readonly string[]): string {
  return `word ${index + 1} of ${length}`;
}

/**
 * Finds the positions whose word is another one in each response. A time is the same in two responses in one second: in a text
 * with a time, a word may be that of the response before, but no earlier one comes again.
 */
function findNewWords(texts: readonly TextOfCause[]): ReadonlySet<string> {
  const earlierByPosition = new Map<string, string[]>();
  const repeated = new Set<string>();
  for (const { text } of texts) {
    if (text === undefined) continue;
    const words = splitWords(text);
    const mayRepeatLatest = textWithTime.test(text);
    for (const [index, word] of words.entries()) {
      const position = positionOf(index, words);
      const earlier = earlierByPosition.get(position) ?? [];
      earlierByPosition.set(position, earlier);
      if (mayRepeatLatest && earlier.at(-1) === word) continue;
      if (earlier.includes(word)) repeated.add(position);
      earlier.push(word);
    }
  }

  const newWords = new Set<string>();
  for (const [position, words] of earlierByPosition) {
    // One word for all is no new one.
    if (words.length > 1 && !repeated.has(position)) newWords.add(position);
  }
  return newWords;
}

function withoutNewWords(words: readonly string[], newWords: ReadonlySet<string>): string {
  return words.map((word, index) => (newWords.has(positionOf(index, words)) ? "…" : word)).join("");
}

/** Chooses the first of the baselines, or the second one if all others have one text, and the first another one. */
function chooseBaseline(textsByCause: ReadonlyMap<PromisedOutcomeId, string | undefined>): PromisedOutcomeId {
  const inOrder = new Set([...baselineCauses, ...textsByCause.keys()]);
  const [first = "401.unknown", second = first, ...later] = [...inOrder].filter((cause) =>
    textsByCause.has(cause),
  );
  // Of two causes, nobody knows which is the odd one.
  if (later.length === 0) return first;
  const textsOfOthers = new Set([second, ...later].map((cause) => textsByCause.get(cause)));
  return textsOfOthers.size === 1 && !textsOfOthers.has(textsByCause.get(first)) ? second : first;
}
