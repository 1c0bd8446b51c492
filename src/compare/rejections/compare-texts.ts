import { findVaryingWords, joinSharedWords, type Words } from "../response/words.js";

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
  | { readonly kind: "nobody_can_tell"; readonly why: string };

const varyingCount = "the number of its words varies";
/** Words vary in another way than ids and times do: they come again. */
export const varyingOtherwise = "it also varies otherwise";

/** Compares the texts of a cause with those of the baseline, word by word, without the words that vary for one of them. */
export function compareTexts(
  ofCause: readonly TextAtPlace[],
  ofBaseline: readonly TextAtPlace[],
): TextComparison {
  if (isLengthVarying(ofCause) || isLengthVarying(ofBaseline)) {
    return { kind: "nobody_can_tell", why: varyingCount };
  }

  const varying = new Set([...varyingWordsIn(ofCause), ...varyingWordsIn(ofBaseline)]);
  const textOfCause = withoutVarying(ofCause[0], varying);
  const textOfBaseline = withoutVarying(ofBaseline[0], varying);
  if (textOfCause === textOfBaseline) return { kind: "agrees" };

  // Each word of one text varies, and no word of the other: the server may choose it by the key, or by the key's node.
  const isCauseChosen = isAllVarying(textOfCause) && isConstant(textOfBaseline);
  const isBaselineChosen = isAllVarying(textOfBaseline) && isConstant(textOfCause);
  if (isCauseChosen || isBaselineChosen) return { kind: "nobody_can_tell", why: varyingOtherwise };
  return { kind: "differs", textOfCause, textOfBaseline };
}

/** Returns the names of the words that the texts, all of one length, do not share. */
export function varyingWordsIn(texts: readonly TextAtPlace[]): string[] {
  const wordsOfTexts: Words[] = [];
  for (const text of texts) if (text !== undefined) wordsOfTexts.push(splitWords(text));
  return findVaryingWords(wordsOfTexts);
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
  return text === undefined ? undefined : joinSharedWords(splitWords(text), varying);
}

/** Whether each word of a text varies: `… …`. */
function isAllVarying(text: TextAtPlace): boolean {
  return text !== undefined && /^[…\s]+$/.test(text);
}

/** Whether no word of a text varies. */
function isConstant(text: TextAtPlace): boolean {
  return text !== undefined && !text.includes("…");
}
