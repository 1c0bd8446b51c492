import { findVaryingPositions, joinWithout, type Words } from "../response/words.js";

/** The text of a response at a place; `undefined` if the response does not have the place. */
export type TextAtPlace = string | undefined;

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
  /** Nobody can tell. */
  | { readonly kind: "open"; readonly why: string };

const varyingCount = "the number of its words varies";
/** Words vary in another way than ids and times do: they come again. */
export const wordsComeAgain = "it also varies otherwise";

/** Compares the texts of a cause with those of the baseline, word by word, without the words that vary for one of them. */
export function compareTexts(
  ofCause: readonly TextAtPlace[],
  ofBaseline: readonly TextAtPlace[],
): TextComparison {
  if (isLengthVarying(ofCause) || isLengthVarying(ofBaseline)) return { kind: "open", why: varyingCount };

  // The texts of one cause have the same words, apart from those at the varying positions: the first one stands for all.
  const varying = new Set([...varyingPositionsIn(ofCause), ...varyingPositionsIn(ofBaseline)]);
  const textOfCause = withoutVarying(ofCause[0], varying);
  const textOfBaseline = withoutVarying(ofBaseline[0], varying);
  if (textOfCause === textOfBaseline) return { kind: "agrees", varying };

  // `…` and `node-1`: a server may choose such a text by the key, or by the node of the key, and not by the cause.
  const isOnlyCauseVarying = isEachWordVarying(textOfCause) && isNoWordVarying(textOfBaseline);
  const isOnlyBaselineVarying = isEachWordVarying(textOfBaseline) && isNoWordVarying(textOfCause);
  if (isOnlyCauseVarying || isOnlyBaselineVarying) return { kind: "open", why: wordsComeAgain };
  return { kind: "differs", textOfCause, textOfBaseline };
}

/** `…`, or `… …`. */
function isEachWordVarying(text: TextAtPlace): boolean {
  return text !== undefined && /^[…\s]+$/.test(text);
}

function isNoWordVarying(text: TextAtPlace): boolean {
  return text !== undefined && !text.includes("…");
}

/** Returns the positions where the texts, all of one length, have different words. */
function varyingPositionsIn(texts: readonly TextAtPlace[]): string[] {
  const wordsOfTexts: Words[] = [];
  for (const text of texts) if (text !== undefined) wordsOfTexts.push(splitWords(text));
  return findVaryingPositions(wordsOfTexts);
}

/** A run of spaces, or what is between spaces and signs of JSON, with the sign after it. */
const word = /\s+|[^\s,:{[]*[,:{[]|[^\s,:{[]+/g;

/**
 * Splits a text in its words: `No key` has the words `No`, ` ` and `key`, and `{"a":1,"b":2}` has `{`, `"a":`, `1,`, `"b":`
 * and `2}`. An empty text has one empty word.
 */
export function splitWords(text: string): Words {
  return text.match(word) ?? [""];
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
