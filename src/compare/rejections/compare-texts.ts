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
  if (isLengthVarying(textsOfCause) || isLengthVarying(textsOfBaseline)) {
    return { kind: "open", reason: "word_count_varies" };
  }

  // The texts of one cause have the same words, apart from those at the varying positions: the first one stands for all.
  const [firstOfCause] = textsOfCause;
  const [firstOfBaseline] = textsOfBaseline;
  const varying = new Set([...varyingPositionsIn(textsOfCause), ...varyingPositionsIn(textsOfBaseline)]);
  const textOfCause = withoutVarying(firstOfCause, varying);
  const textOfBaseline = withoutVarying(firstOfBaseline, varying);
  if (textOfCause === textOfBaseline) return { kind: "agrees", varying };

  if (isVaryingOnOneSideOnly(firstOfCause, firstOfBaseline, varying)) {
    return { kind: "open", reason: "varies_otherwise" };
  }
  return { kind: "differs", textOfCause, textOfBaseline };
}

/**
 * Whether each word of one text varies, and no word of the other one: `a1` or `b2`, and always `node-1`. A server may choose
 * such a text by the key, or by the node of the key, and not by the cause.
 */
function isVaryingOnOneSideOnly(
  left: TextAtPlace,
  right: TextAtPlace,
  varying: ReadonlySet<string>,
): boolean {
  if (left === undefined || right === undefined) return false;
  const isOnlyLeftVarying = isEachWordVarying(left, varying) && isNoWordVarying(right, varying);
  const isOnlyRightVarying = isEachWordVarying(right, varying) && isNoWordVarying(left, varying);
  return isOnlyLeftVarying || isOnlyRightVarying;
}

/** Whether each word varies; spaces need not. */
function isEachWordVarying(text: string, varying: ReadonlySet<string>): boolean {
  const words = splitWords(text);
  return words.every((word, index) => varying.has(positionOfWord(index, words)) || /^\s+$/.test(word));
}

function isNoWordVarying(text: string, varying: ReadonlySet<string>): boolean {
  const words = splitWords(text);
  return !words.some((_, index) => varying.has(positionOfWord(index, words)));
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

/** Whether some texts have more words than others, or only some are missing. */
function isLengthVarying(texts: readonly TextAtPlace[]): boolean {
  const lengths = new Set<number | "missing">();
  for (const text of texts) lengths.add(text === undefined ? "missing" : splitWords(text).length);
  return lengths.size > 1;
}

function withoutVarying(text: TextAtPlace, varying: ReadonlySet<string>): TextAtPlace {
  return text === undefined ? undefined : joinWithout(varying, splitWords(text));
}
