import { findVaryingPositions, joinWithout, type Words } from "../response/words.js";

/** The text of a response at a place; `undefined` if the response does not have the place. */
export type TextAtPlace = string | undefined;

/** What comes of comparing the 401s of a cause with those of the baseline at a place. */
type TextComparison =
  | { readonly kind: "agrees" }
  | {
      readonly kind: "differs";
      /** With `…` for words that vary. */
      readonly textOfCause: TextAtPlace;
      readonly textOfBaseline: TextAtPlace;
    }
  /** Nobody can tell. */
  | { readonly kind: "unjudged"; readonly why: string };

const varyingCount = "the number of its words varies";
/** Words vary in another way than ids and times do: they come again. */
export const varyingOtherwise = "it also varies otherwise";

/** Compares the texts of a cause with those of the baseline, word by word, without the words that vary for one of them. */
export function compareTexts(
  ofCause: readonly TextAtPlace[],
  ofBaseline: readonly TextAtPlace[],
): TextComparison {
  if (isLengthVarying(ofCause) || isLengthVarying(ofBaseline)) return { kind: "unjudged", why: varyingCount };

  // The texts of one cause have the same words, apart from those at the varying positions: the first one stands for all.
  const varying = new Set([...varyingPositionsIn(ofCause), ...varyingPositionsIn(ofBaseline)]);
  const textOfCause = withoutVarying(ofCause[0], varying);
  const textOfBaseline = withoutVarying(ofBaseline[0], varying);
  if (textOfCause === textOfBaseline) return { kind: "agrees" };

  const canComeFromKey =
    isOnlyOneVarying(textOfCause, textOfBaseline) || isOnlyOneVarying(textOfBaseline, textOfCause);
  if (canComeFromKey) return { kind: "unjudged", why: varyingOtherwise };
  return { kind: "differs", textOfCause, textOfBaseline };
}

/**
 * Whether each word of one text varies, and no word of the other: `…` and `node-1`. A server may choose such a text by the key,
 * or by the node of the key, and not by the cause.
 */
function isOnlyOneVarying(varying: TextAtPlace, constant: TextAtPlace): boolean {
  if (varying === undefined || constant === undefined) return false;
  return /^[…\s]+$/.test(varying) && !constant.includes("…");
}

/** Returns the positions where the texts, all of one length, have different words. */
export function varyingPositionsIn(texts: readonly TextAtPlace[]): string[] {
  const wordsOfTexts: Words[] = [];
  for (const text of texts) if (text !== undefined) wordsOfTexts.push(splitWords(text));
  return findVaryingPositions(wordsOfTexts);
}

/**
 * Splits before and after each run of spaces, and after the signs of JSON: `No key` has the words `No`, ` ` and `key`, and
 * `{"a":1,"b":2}` has `{`, `"a":`, `1,`, `"b":` and `2}`.
 */
export function splitWords(text: string): Words {
  return text.split(/(?=\s)(?<!\s)|(?<=\s)(?!\s)|(?<=[,:{[])/);
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
