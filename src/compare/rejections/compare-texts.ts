import { findVaryingWords, joinSharedWords, type Words } from "../response/words.js";

/** The text of a response at a place; `undefined` if the response does not have the place. */
export type TextAtPlace = string | undefined;

/** What comes of comparing the 401s of a cause with those of the baseline at a place. */
type TextComparison =
  | { readonly kind: "agrees" }
  | {
      readonly kind: "differs";
      /** The text of the cause, with `…` for words that vary. */
      readonly found: TextAtPlace;
      /** The text of the baseline in the same form. */
      readonly expected: TextAtPlace;
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
  if (!isOneLength(ofCause) || !isOneLength(ofBaseline)) {
    return { kind: "nobody_can_tell", why: varyingCount };
  }

  const varying = new Set([...varyingWordsIn(ofCause), ...varyingWordsIn(ofBaseline)]);
  const found = withoutVarying(ofCause[0], varying);
  const expected = withoutVarying(ofBaseline[0], varying);
  if (found === expected) return { kind: "agrees" };

  // Each word of one text varies, and no word of the other: the server may choose it by the key, or by the key's node.
  const isCauseFree = variesWholly(found) && isConstant(expected);
  const isBaselineFree = variesWholly(expected) && isConstant(found);
  if (isCauseFree || isBaselineFree) return { kind: "nobody_can_tell", why: varyingOtherwise };
  return { kind: "differs", found, expected };
}

/** Returns the names of the words that the texts, all of one length, do not share. */
export function varyingWordsIn(texts: readonly TextAtPlace[]): string[] {
  const texted: Words[] = [];
  for (const text of texts) if (text !== undefined) texted.push(splitWords(text));
  return findVaryingWords(texted);
}

/**
 * Splits before and after each run of spaces, and after the signs of JSON: `No key` has the words `No`, ` ` and `key`, and
 * `{"a":1,"b":2}` has `{`, `"a":`, `1,`, `"b":` and `2}`.
 */
export function splitWords(text: string): Words {
  return text.split(/(?=\s)(?<!\s)|(?<=\s)(?!\s)|(?<=[,:{[])/);
}

/** Whether all texts have equally many words, or all are missing. */
function isOneLength(texts: readonly TextAtPlace[]): boolean {
  const counts = new Set<number>();
  for (const text of texts) counts.add(text === undefined ? -1 : splitWords(text).length);
  return counts.size <= 1;
}

function withoutVarying(text: TextAtPlace, varying: ReadonlySet<string>): TextAtPlace {
  return text === undefined ? undefined : joinSharedWords(splitWords(text), varying);
}

function variesWholly(text: TextAtPlace): boolean {
  return text !== undefined && /^[…\s]+$/.test(text);
}

function isConstant(text: TextAtPlace): boolean {
  return text !== undefined && !text.includes("…");
}
