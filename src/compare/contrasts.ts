import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { type ComparedPlace, independentPlaces, type PlaceTexts } from "./places.js";
import { findVaryingWords, joinSharedWords, nameOfWord, type Words } from "./varying-words.js";

// `causes-of-401.ts` has the method, with the words of this file.

/** A cause of 401 with each 401 that its requests got. */
export interface RejectionCause {
  readonly outcome: PromisedOutcomeId;
  readonly responses: readonly RejectedResponse[];
}

export interface RejectedResponse {
  /** Its number among all requests of the comparison. */
  readonly number: number;
  readonly texts: PlaceTexts;
}

/** A place where the 401s of a cause have other words than those of the baseline. */
export interface Contrast {
  readonly at: string;
  readonly cause: RejectionCause;
  readonly baseline: RejectionCause;
  /** The text of the cause, with `…` for words that vary; `undefined` if its 401s do not have the place. */
  readonly found: string | undefined;
  /** The text of the baseline in the same form. */
  readonly expected: string | undefined;
}

/** Where a cause could not be compared with its baseline, or the comparison shows nothing. */
export interface UnjudgedPlace {
  readonly at: string;
  readonly why: string;
  readonly outcomes: readonly PromisedOutcomeId[];
}

/** What comes of comparing a cause with its baseline at a place. */
type PlaceComparison =
  | { readonly kind: "agrees" }
  | { readonly kind: "differs"; readonly found: string | undefined; readonly expected: string | undefined }
  | { readonly kind: "unjudged"; readonly why: string };

const varyingCount = "the number of its words varies";
const varyingOtherwise = "it also varies otherwise";

/** A text with a time: several responses can have the same time, but none has an earlier one again. */
const withTime = /\d:\d\d:\d\d|\b\d{10}(?:\d{3})?\b/;

/** Compares each cause with the baseline at each place. */
export function findContrasts(causes: readonly RejectionCause[]): Contrast[] {
  const contrasts: Contrast[] = [];
  for (const at of collectPlaces(causes)) {
    const baseline = chooseBaseline(at, causes);
    for (const cause of causes) {
      const contrast = findContrast(at, cause, baseline);
      if (contrast !== undefined) contrasts.push(contrast);
    }
  }
  return contrasts;
}

function collectPlaces(causes: readonly RejectionCause[]): Set<string> {
  const places = new Set<string>();
  for (const { responses } of causes)
    for (const { texts } of responses) for (const at of texts.keys()) places.add(at);
  return places;
}

/** Returns the first cause; at a place where all others are alike and only that one differs from them, the second. */
function chooseBaseline(at: string, causes: readonly RejectionCause[]): RejectionCause | undefined {
  const [first, second, ...others] = causes;
  // Of two causes, nobody knows which one is the odd one.
  if (others.length === 0) return first;

  for (const cause of others) if (findContrast(at, cause, second) !== undefined) return first;
  for (const cause of causes)
    if (cause !== first && findContrast(at, cause, first) === undefined) return first;
  return second;
}

/** Returns `undefined` if the two agree, if nobody can tell, or for the baseline itself. */
export function findContrast(
  at: string,
  cause: RejectionCause,
  baseline: RejectionCause | undefined,
): Contrast | undefined {
  if (baseline === undefined || cause === baseline) return undefined;
  const comparison = compareTexts(at, cause, baseline);
  if (comparison.kind !== "differs") return undefined;
  const { found, expected } = comparison;
  return { at, cause, baseline, found, expected };
}

function compareTexts(at: string, cause: RejectionCause, baseline: RejectionCause): PlaceComparison {
  const ofCause = textsInWords(at, cause);
  const ofBaseline = textsInWords(at, baseline);
  if (!isOneLength(ofCause) || !isOneLength(ofBaseline)) return { kind: "unjudged", why: varyingCount };

  // Words that vary for one of the two, such as an id, are left out of both.
  const varying = new Set([...varyingWordsIn(ofCause), ...varyingWordsIn(ofBaseline)]);
  const [causeWords] = ofCause;
  const [baselineWords] = ofBaseline;
  const found = causeWords && joinSharedWords(causeWords, varying);
  const expected = baselineWords && joinSharedWords(baselineWords, varying);
  if (found === expected) return { kind: "agrees" };

  // A text of which each word varies, next to one that never does, may follow the key or its node.
  const isCauseFree = variesWholly(found) && isConstant(expected);
  const isBaselineFree = variesWholly(expected) && isConstant(found);
  if (isCauseFree || isBaselineFree) return { kind: "unjudged", why: varyingOtherwise };
  return { kind: "differs", found, expected };
}

function variesWholly(text: string | undefined): boolean {
  return text !== undefined && /^[…\s]+$/.test(text);
}

function isConstant(text: string | undefined): boolean {
  return text !== undefined && !text.includes("…");
}

/** Returns the text at a place of each response to a cause, in words; `undefined` for a response without it. */
function textsInWords(at: string, { responses }: RejectionCause): (Words | undefined)[] {
  return responses.map(({ texts }) => splitWords(texts.get(at)));
}

/** Splits before and after each run of spaces, and after the signs of JSON: spaces and the members of a value are words. */
function splitWords(text: string | undefined): Words | undefined {
  return text?.split(/(?=\s)(?<!\s)|(?<=\s)(?!\s)|(?<=[,:{[])/);
}

/** Whether all texts have equally many words, or all are missing. */
function isOneLength(texts: readonly (Words | undefined)[]): boolean {
  const [first] = texts;
  return texts.every((words) => words?.length === first?.length);
}

function varyingWordsIn(texts: readonly (Words | undefined)[]): string[] {
  return findVaryingWords(texts.filter((words) => words !== undefined));
}

/**
 * Returns the places where a cause could not be compared with its baseline, or where it agrees only without words that
 * vary. Ids and times may vary: no response has those of an earlier one.
 */
export function findUnjudgedPlaces(
  causes: readonly RejectionCause[],
  contrasts: readonly Contrast[],
): UnjudgedPlace[] {
  const varyingPlaces = findVaryingPlaces(causes);
  const unjudged: UnjudgedPlace[] = [];
  for (const { at } of varyingPlaces) {
    const contrastsHere = contrasts.filter((contrast) => contrast.at === at);
    const differing = new Set(contrastsHere.map(({ cause }) => cause.outcome));
    const whys = whysUnjudged(at, { causes, differing });

    // All causes with one reason are told together.
    for (const why of new Set(whys.values())) {
      const unjudgedCauses = causes.filter((cause) => whys.get(cause) === why);
      unjudged.push({ at, why, outcomes: unjudgedCauses.map(({ outcome }) => outcome) });
    }
  }

  // Without those that vary only because another one does. The body's text can vary although its members do not.
  const independent = new Set(independentPlaces(varyingPlaces).map(({ at }) => at));
  const isMemberUnjudged = unjudged.some(({ at }) => at.startsWith("$"));
  return unjudged.filter(({ at }) => independent.has(at) || (at === "body" && !isMemberUnjudged));
}

interface CausesAtPlace {
  readonly causes: readonly RejectionCause[];
  /** The outcomes of the causes with a contrast at the place: they are judged. */
  readonly differing: ReadonlySet<PromisedOutcomeId>;
}

/** Returns the reasons of the causes that are not judged at a place. */
function whysUnjudged(at: string, { causes, differing }: CausesAtPlace): Map<RejectionCause, string> {
  const whys = new Map<RejectionCause, string>();
  const baseline = chooseBaseline(at, causes);
  if (baseline === undefined) return whys;

  const repeated = findRepeatedWords(at, causes);
  for (const cause of causes) {
    if (cause === baseline || differing.has(cause.outcome)) continue;
    const why = whyUnjudged(at, { cause, baseline, repeated });
    if (why !== undefined) whys.set(cause, why);
  }

  // The baseline itself was judged if one of the others was.
  const [firstWhy] = whys.values();
  if (firstWhy !== undefined && whys.size === causes.length - 1) whys.set(baseline, firstWhy);
  return whys;
}

interface ComparedPair {
  readonly cause: RejectionCause;
  readonly baseline: RejectionCause;
  /** The names of the words that came again in another response. */
  readonly repeated: ReadonlySet<string>;
}

/** Returns why the comparison of two causes at a place shows nothing; `undefined` if they agree. */
function whyUnjudged(at: string, { cause, baseline, repeated }: ComparedPair): string | undefined {
  const comparison = compareTexts(at, cause, baseline);
  if (comparison.kind === "unjudged") return comparison.why;
  // A contrast that was not there in each turn.
  if (comparison.kind === "differs") return varyingOtherwise;

  // They agree without the words that vary. Such a word shows nothing only if it is new in each response.
  const ofCause = varyingWordsIn(textsInWords(at, cause));
  const ofBaseline = varyingWordsIn(textsInWords(at, baseline));
  const isRepeated = [...ofCause, ...ofBaseline].some((word) => repeated.has(word));
  return isRepeated ? varyingOtherwise : undefined;
}

/** Returns the names of the words at a place that are not new in each response; a time may be that of the response before. */
function findRepeatedWords(at: string, causes: readonly RejectionCause[]): Set<string> {
  const responses = causes.flatMap((cause) => cause.responses);
  const inOrder = responses.toSorted((one, other) => one.number - other.number);

  const latestByName = new Map<string, string>();
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { texts } of inOrder) {
    const text = texts.get(at) ?? "";
    const words = splitWords(texts.get(at)) ?? [];
    for (const [index, word] of words.entries()) {
      const name = nameOfWord(index, words);
      const namedWord = `${name}: ${word}`;
      const isSameTime = withTime.test(text) && latestByName.get(name) === word;
      if (seen.has(namedWord) && !isSameTime) repeated.add(name);
      seen.add(namedWord);
      latestByName.set(name, word);
    }
  }
  return repeated;
}

/** Returns the places whose text is not the same in all 401s. */
export function findVaryingPlaces(causes: readonly RejectionCause[]): ComparedPlace[] {
  const responses = causes.flatMap((cause) => cause.responses);
  const varying: ComparedPlace[] = [];
  for (const at of collectPlaces(causes)) {
    const values = new Set(responses.map(({ texts }) => texts.get(at)));
    if (values.size > 1) varying.push({ at, values: [...values] });
  }
  return varying;
}
