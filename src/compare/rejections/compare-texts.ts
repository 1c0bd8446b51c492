import { findVaryingPositions, joinWithout, positionOfWord, type Words } from "../response/words.js";
import { splitWords } from "./split-words.js";

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
  | { readonly kind: "open" };

/** Compares the texts of a cause with those of the baseline, word by word, without the words that vary for one of them. */
export function compareTexts(
  textsOfCause: readonly TextAtPlace[],
  textsOfBaseline: readonly TextAtPlace[],
): TextComparison {
  // With another number of words, nobody can tell which words belong together.
  if (isWordCountVarying(textsOfCause) || isWordCountVarying(textsOfBaseline)) return { kind: "open" };

  // The texts of one cause have the same words, apart from those at the varying positions: the first one stands for all.
  const [firstOfCause] = textsOfCause;
  const [firstOfBaseline] = textsOfBaseline;
  const varyingForCause = varyingPositionsIn(textsOfCause);
  const varyingForBaseline = varyingPositionsIn(textsOfBaseline);
  const varying = new Set([...varyingForCause, ...varyingForBaseline]);
  const textOfCause = withoutVarying(firstOfCause, varying);
  const textOfBaseline = withoutVarying(firstOfBaseline, varying);
  if (textOfCause === textOfBaseline) return { kind: "agrees", varying };

  const isEachThere = firstOfCause !== undefined && firstOfBaseline !== undefined;
  if (isEachThere && countWords(firstOfCause) !== countWords(firstOfBaseline)) {
    const cause = { text: firstOfCause, varying: varyingForCause };
    const baseline = { text: firstOfBaseline, varying: varyingForBaseline };
    if (mayBeChosenByNode(cause, baseline)) return { kind: "open" };
  }
  return { kind: "differs", textOfCause, textOfBaseline };
}

/** The text of a cause, with the positions of the words that vary. */
interface VaryingText {
  readonly text: string;
  readonly varying: readonly string[];
}

/** Whether the texts of one cause have different numbers of words, or only some are missing. */
function isWordCountVarying(texts: readonly TextAtPlace[]): boolean {
  return new Set(texts.map(countWords)).size > 1;
}

function countWords(text: TextAtPlace): number | "missing" {
  return text === undefined ? "missing" : splitWords(text).length;
}

/**
 * Whether one of two texts, which have different numbers of words, is only ids and the other one never varies, such as `a1`,
 * `b2` for the cause, and always `node 1` for the baseline. A server may choose such a text by the key, or by the node of the
 * key, and not by the cause.
 */
function mayBeChosenByNode(cause: VaryingText, baseline: VaryingText): boolean {
  if (isOnlyIds(cause)) return baseline.varying.length === 0;
  if (isOnlyIds(baseline)) return cause.varying.length === 0;
  return false;
}

/** Whether each word varies, but for the spaces between them. */
function isOnlyIds({ text, varying }: VaryingText): boolean {
  if (varying.length === 0) return false;
  const words = splitWords(text);
  for (const [index, word] of words.entries()) {
    const isSpace = /^\s+$/.test(word);
    if (!isSpace && !varying.includes(positionOfWord(index, words))) return false;
  }
  return true;
}

/** Returns the positions where the texts, all of one length, have different words. */
function varyingPositionsIn(texts: readonly TextAtPlace[]): string[] {
  const wordsOfTexts: Words[] = [];
  for (const text of texts) if (text !== undefined) wordsOfTexts.push(splitWords(text));
  return findVaryingPositions(wordsOfTexts);
}

function withoutVarying(text: TextAtPlace, varying: ReadonlySet<string>): TextAtPlace {
  return text === undefined ? undefined : joinWithout(varying, splitWords(text));
}
