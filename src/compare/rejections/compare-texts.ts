import { findVaryingPositions, joinWithout, positionOfWord, type Words } from "../response/words.js";

/** The text of a response at a place; `undefined` if the response does not have the place. */
export type TextAtPlace = string | undefined;

/**
 * Why nobody can tell whether the texts of a cause and of its baseline are alike:
 * - `word_count_varies`: nobody can tell which words belong together
 * - `varies_otherwise`: the words vary in another way than ids and times do, which are new in each response
 */
export type OpenReason = "word_count_varies" | "varies_otherwise";

/** The reasons as a report has them, after `because`. */
export const wordsOfOpenReasons: Readonly<Record<OpenReason, string>> = {
  word_count_varies: "the number of its words varies",
  varies_otherwise: "it also varies otherwise",
};

/** What comes of comparing the 401s of a cause with those of the baseline at a place. */
type TextComparison =
  /** They agree without the words at the varying positions. */
  | { readonly kind: "agrees"; readonly varying: ReadonlySet<string> }
  | {
      readonly kind: "differs";
      /** With `…` for words that vary. */
      readonly textOfCause: TextAtPlace;
      readonly textOfBaseline: TextAtPlace;
    }
  | { readonly kind: "open"; readonly reason: OpenReason };

/** Compares the texts of a cause with those of the baseline, word by word, without the words that vary for one of them. */
export function compareTexts(
  textsOfCause: readonly TextAtPlace[],
  textsOfBaseline: readonly TextAtPlace[],
): TextComparison {
  if (isWordCountVarying(textsOfCause) || isWordCountVarying(textsOfBaseline)) {
    return { kind: "open", reason: "word_count_varies" };
  }

  // The texts of one cause have the same words, apart from those at the varying positions: the first one stands for all.
  const [firstOfCause] = textsOfCause;
  const [firstOfBaseline] = textsOfBaseline;
  const varyingForCause = varyingPositionsIn(textsOfCause);
  const varyingForBaseline = varyingPositionsIn(textsOfBaseline);
  const varying = new Set([...varyingForCause, ...varyingForBaseline]);
  const textOfCause = withoutVarying(firstOfCause, varying);
  const textOfBaseline = withoutVarying(firstOfBaseline, varying);
  if (textOfCause === textOfBaseline) return { kind: "agrees", varying };

  // The texts can have different numbers of words, such as `a1`, `b2` for the cause, and always `node 1` for the baseline. A
  // server may choose such a text by the key, or by the node of the key, and not by the cause.
  if (countWords(firstOfCause) !== countWords(firstOfBaseline)) {
    const variations = [
      variationOf(firstOfCause, varyingForCause),
      variationOf(firstOfBaseline, varyingForBaseline),
    ];
    if (variations.includes("every_word") && variations.includes("no_word")) {
      return { kind: "open", reason: "varies_otherwise" };
    }
  }
  return { kind: "differs", textOfCause, textOfBaseline };
}

/** Whether the texts of one cause have different numbers of words, or only some are missing. */
function isWordCountVarying(texts: readonly TextAtPlace[]): boolean {
  return new Set(texts.map(countWords)).size > 1;
}

function countWords(text: TextAtPlace): number | "missing" {
  return text === undefined ? "missing" : splitWords(text).length;
}

/** Which words of a cause's text vary at these positions. Spaces count as varying if all other words vary. */
function variationOf(
  text: TextAtPlace,
  varying: readonly string[],
): "missing" | "no_word" | "some_words" | "every_word" {
  if (text === undefined) return "missing";
  if (varying.length === 0) return "no_word";

  const words = splitWords(text);
  for (const [index, word] of words.entries()) {
    const isSpace = /^\s+$/.test(word);
    if (!isSpace && !varying.includes(positionOfWord(index, words))) return "some_words";
  }
  return "every_word";
}

/** Returns the positions where the texts, all of one length, have different words. */
function varyingPositionsIn(texts: readonly TextAtPlace[]): string[] {
  const wordsOfTexts: Words[] = [];
  for (const text of texts) if (text !== undefined) wordsOfTexts.push(splitWords(text));
  return findVaryingPositions(wordsOfTexts);
}

/** A run of spaces, or what is between spaces and signs of JSON, with the sign after it. */
const wordPattern = /\s+|[^\s,:{[]*[,:{[]|[^\s,:{[]+/g;

/**
 * Splits a text in its words: `No key` has the words `No`, ` ` and `key`, and `{"a":1,"b":2}` has `{`, `"a":`, `1,`, `"b":`
 * and `2}`. An empty text has one empty word.
 */
export function splitWords(text: string): Words {
  return text.match(wordPattern) ?? [""];
}

function withoutVarying(text: TextAtPlace, varying: ReadonlySet<string>): TextAtPlace {
  return text === undefined ? undefined : joinWithout(varying, splitWords(text));
}
