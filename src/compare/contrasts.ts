import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { isMapping } from "../rules/schema/shape.js";
import { headerOf, type RedactedResponse } from "./response.js";

/** A cause of 401, and each 401 to it. */
export interface RejectionCause {
  readonly outcome: PromisedOutcomeId;
  readonly responses: readonly RejectedResponse[];
}

export interface RejectedResponse {
  /** Its number among all requests of the comparison. */
  readonly number: number;
  readonly parts: Parts;
}

/** The parts of a response by their places, as texts. */
type Parts = ReadonlyMap<string, string>;

/** A place where the responses to a cause agree in all words that stay, as do those to the baseline, with another text. */
export interface Contrast {
  readonly at: string;
  readonly cause: RejectionCause;
  readonly baseline: RejectionCause;
  readonly found: string | undefined;
  readonly expected: string | undefined;
}

/** Where a cause could not be compared with its baseline, or the comparison shows nothing. */
export interface UnjudgedPlace {
  readonly at: string;
  readonly why: string;
  readonly outcomes: readonly PromisedOutcomeId[];
}

const varyingCount = "the number of its words varies";
const varyingOtherwise = "it also varies otherwise";

/** What comes of comparing a cause with its baseline at a place. */
type PlaceComparison =
  | { readonly kind: "agrees" }
  | { readonly kind: "differs"; readonly found: string | undefined; readonly expected: string | undefined }
  | { readonly kind: "unjudged"; readonly why: string };

/** Compares each cause with the first one, at a place where only that one differs with the second. */
export function contrastsBetween(causes: readonly RejectionCause[]): Contrast[] {
  const contrasts: Contrast[] = [];
  for (const at of comparedPlaces(causes)) {
    const baseline = baselineAt(at, causes);
    for (const cause of causes) {
      const contrast = contrastOf(at, cause, baseline);
      if (contrast !== undefined) contrasts.push(contrast);
    }
  }
  return contrasts;
}

/** The first cause, unless it is the only one that differs from the second. */
function baselineAt(at: string, causes: readonly RejectionCause[]): RejectionCause | undefined {
  const [first, second, ...others] = causes;
  if (others.length === 0) return first;
  const differsFrom = (cause: RejectionCause, baseline: RejectionCause | undefined) =>
    contrastOf(at, cause, baseline) !== undefined;
  const areOthersLikeSecond = others.every((cause) => !differsFrom(cause, second));
  const isFirstAlone = causes.every((cause) => cause === first || differsFrom(cause, first));
  return areOthersLikeSecond && isFirstAlone ? second : first;
}

/** `undefined` if the two agree, or if the responses to one of them do not agree with each other. */
export function contrastOf(
  at: string,
  cause: RejectionCause,
  baseline: RejectionCause | undefined,
): Contrast | undefined {
  if (baseline === undefined || cause === baseline) return undefined;
  const comparison = compareAt(at, cause, baseline);
  if (comparison.kind !== "differs") return undefined;
  const { found, expected } = comparison;
  return { at, cause, baseline, found, expected };
}

function compareAt(at: string, cause: RejectionCause, baseline: RejectionCause): PlaceComparison {
  const ofCause = wordsAt(at, cause);
  const ofBaseline = wordsAt(at, baseline);
  if (!haveSameLength(ofCause) || !haveSameLength(ofBaseline)) return { kind: "unjudged", why: varyingCount };

  const varying = new Set([...varyingWords(ofCause), ...varyingWords(ofBaseline)]);
  const found = withoutWords(ofCause[0], varying);
  const expected = withoutWords(ofBaseline[0], varying);
  if (found === expected) return { kind: "agrees" };

  // A text that varies as a whole, next to one that never does, follows the key or its node.
  const isFree = isAllVarying(found, expected) || isAllVarying(expected, found);
  return isFree ? { kind: "unjudged", why: varyingOtherwise } : { kind: "differs", found, expected };
}

function isAllVarying(text: string | undefined, other: string | undefined): boolean {
  if (text === undefined || other === undefined) return false;
  return /^[…\s]+$/.test(text) && !other.includes("…");
}

/** The words of a text; `undefined` for a response without it. */
type Words = readonly string[] | undefined;

/** The words of each response to a cause at a place. */
function wordsAt(at: string, { responses }: RejectionCause): Words[] {
  return responses.map(({ parts }) => splitWords(parts.get(at)));
}

/** Spaces count, and the members of a value are words. */
function splitWords(text: string | undefined): Words {
  return text?.split(/(?=\s)(?<!\s)|(?<=\s)(?!\s)|(?<=[,:{[])/);
}

function haveSameLength([first, ...others]: readonly Words[]): boolean {
  return others.every((words) => words?.length === first?.length);
}

/** Names the words that differ between texts of the same length. */
function varyingWords([first = [], ...others]: readonly Words[]): string[] {
  const varying: string[] = [];
  for (const [index, word] of first.entries())
    if (others.some((words) => words?.[index] !== word)) varying.push(nameOfWord(index, first));
  return varying;
}

/** Texts of other lengths have other words. */
function nameOfWord(index: number, words: readonly string[]): string {
  return `word ${index} of ${words.length}`;
}

function withoutWords(words: Words, varying: ReadonlySet<string>): string | undefined {
  return words?.map((word, index) => (varying.has(nameOfWord(index, words)) ? "…" : word)).join("");
}

/**
 * The places where a cause could not be compared with its baseline, or where it agrees only without words that vary.
 * Ids and times may: no response has the same ones as an earlier one.
 */
export function unjudgedPlaces(
  causes: readonly RejectionCause[],
  contrasts: readonly Contrast[],
): UnjudgedPlace[] {
  const unjudged: UnjudgedPlace[] = [];
  for (const { at } of varyingPlaces(causes)) {
    const baseline = baselineAt(at, causes);
    const repeated = repeatedWords(at, causes);
    const whys = new Map<RejectionCause, string>();
    for (const cause of causes) {
      const isDifference = contrasts.some((one) => one.at === at && one.cause.outcome === cause.outcome);
      if (cause === baseline || baseline === undefined || isDifference) continue;
      const why = whyUnjudged(at, { cause, baseline, repeated });
      if (why !== undefined) whys.set(cause, why);
    }

    // The baseline was compared if another cause was.
    const [first] = whys.values();
    if (baseline !== undefined && first !== undefined && whys.size === causes.length - 1)
      whys.set(baseline, first);
    for (const why of new Set(whys.values())) {
      const some = causes.filter((cause) => whys.get(cause) === why);
      unjudged.push({ at, why, outcomes: some.map(({ outcome }) => outcome) });
    }
  }
  return withoutDerivedUnjudged(unjudged, causes);
}

interface ComparedPair {
  readonly cause: RejectionCause;
  readonly baseline: RejectionCause;
  /** The words that two responses have, and others do not. */
  readonly repeated: ReadonlySet<string>;
}

function whyUnjudged(at: string, { cause, baseline, repeated }: ComparedPair): string | undefined {
  const comparison = compareAt(at, cause, baseline);
  if (comparison.kind === "unjudged") return comparison.why;
  // It was not in all turns, or it would be a difference.
  if (comparison.kind === "differs") return varyingOtherwise;
  const varying = [cause, baseline].flatMap((one) => varyingWords(wordsAt(at, one)));
  return varying.some((word) => repeated.has(word)) ? varyingOtherwise : undefined;
}

/** Names the words at a place that are not new in each response. */
function repeatedWords(at: string, causes: readonly RejectionCause[]): Set<string> {
  const responses = causes.flatMap((cause) => cause.responses);
  const inOrder = responses.toSorted((one, other) => one.number - other.number);
  const lastValues = new Map<string, string>();
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const { parts } of inOrder) {
    const text = parts.get(at);
    const words = splitWords(text) ?? [];
    for (const [index, word] of words.entries()) {
      const name = nameOfWord(index, words);
      const value = `${name}: ${word}`;
      const isSameTime = isTime.test(text ?? "") && lastValues.get(name) === word;
      if (seen.has(value) && !isSameTime) repeated.add(name);
      seen.add(value);
      lastValues.set(name, word);
    }
  }
  return repeated;
}

/** Several responses can have the same time, but none has an earlier one again. */
const isTime = /\d:\d\d:\d\d|\b\d{10}(?:\d{3})?\b/;

/** Leaves out places that cannot be judged only because another one cannot. */
function withoutDerivedUnjudged(
  unjudged: readonly UnjudgedPlace[],
  causes: readonly RejectionCause[],
): UnjudgedPlace[] {
  const shown = new Set(withoutDerived(varyingPlaces(causes)).map(({ at }) => at));
  const isInBody = unjudged.some(({ at }) => at.startsWith("$"));
  return unjudged.filter(({ at }) => shown.has(at) || (at === "body" && !isInBody));
}

/** The places where responses to the causes differ, with their values; `undefined` for a response without it. */
export function varyingPlaces(causes: readonly RejectionCause[]): ComparedPlace[] {
  const responses = causes.flatMap((cause) => cause.responses);
  const varying: ComparedPlace[] = [];
  for (const at of comparedPlaces(causes)) {
    const values = new Set(responses.map(({ parts }) => parts.get(at)));
    if (values.size > 1) varying.push({ at, values: [...values] });
  }
  return varying;
}

function comparedPlaces(causes: readonly RejectionCause[]): string[] {
  const places = new Set<string>();
  for (const { responses } of causes)
    for (const { parts } of responses) for (const at of parts.keys()) places.add(at);
  return [...places];
}

// By R14, only the presence of these is equal.
const freeHeaders = new Set(["date", "x-request-id"]);

export function partsOf(response: RedactedResponse): Parts {
  const { reason, headers, text = "not UTF-8", json } = response;
  const parts = new Map([["reason phrase", reason]]);
  for (const [name, value] of headers) {
    const compared = freeHeaders.has(name.toLowerCase()) ? "present" : value;
    parts.set(name, parts.has(name) ? `${parts.get(name)}, ${compared}` : compared);
  }
  addParametersOf(response, parts);
  parts.set("headers", headers.map(([name]) => name).join(", "));

  if (json !== undefined) addMembers("$", json, parts);
  return parts.set("body", text);
}

const parameter = /([\w-]+) *= *("(?:[^"\\]|\\.)*"|[^\s",]+)/g;
const oneChallenge = new RegExp(`^([\\w-]+) +((?:${parameter.source}(?: *, *(?!$)|$))+)$`);

/** Each parameter of a challenge is a place of its own; the header itself then has their names. */
function addParametersOf(response: RedactedResponse, parts: Map<string, string>): void {
  const [, scheme, parameters] = oneChallenge.exec(headerOf(response, "www-authenticate") ?? "") ?? [];
  const header = response.headers.find(([name]) => name.toLowerCase() === "www-authenticate")?.[0];
  if (header === undefined || parameters === undefined) return;

  const pairs = [...parameters.matchAll(parameter)];
  const names = pairs.map(([, name]) => name);
  if (new Set(names).size < names.length) return;
  parts.set(header, `${scheme} ${names.join(", ")}`);
  for (const [, name, value = ""] of pairs) parts.set(`${header} ${name}`, value);
}

/** Below these, the members of a value are words. */
const mappings = /^\$(?:\.error(?:\.details(?:\..*)?)?)?$/;

/** Each member is a place of its own; `error.details` and mappings in it have the names of their members. */
function addMembers(at: string, value: unknown, parts: Map<string, string>): void {
  const isSplit = isMapping(value) && mappings.test(at);
  if (!isSplit) {
    parts.set(at, JSON.stringify(value));
    return;
  }
  const members = Object.entries(value);
  if (at.startsWith("$.error.details")) parts.set(at, `members ${members.map(([name]) => name).join(", ")}`);
  for (const [name, member] of members) addMembers(`${at}.${name}`, member, parts);
}

interface ComparedPlace {
  readonly at: string;
  readonly values: readonly (string | undefined)[];
}

/** Leaves out places that differ only because another one does. */
export function withoutDerived<Place extends ComparedPlace>(places: readonly Place[]): Place[] {
  const isMember = places.some(({ at }) => at.startsWith("$"));
  const isBody = isMember || places.some(({ at }) => at === "body");
  const missing = new Set<string>();
  for (const { at, values } of places) if (values.includes(undefined)) missing.add(at);
  const isHeaderMissing = [...missing].some(isHeader);

  return places.filter(({ at }) => {
    if (at === "body") return !isMember;
    if (/^(?:content-length|etag)$/i.test(at)) return !isBody;
    // The order of the names can differ by itself.
    if (at === "headers") return !isHeaderMissing;
    const whole = wholeOf(at);
    if (whole !== undefined && missing.has(whole)) return false;
    return missing.has(at) || ![...missing].some((part) => wholeOf(part) === at);
  });
}

/** The place that has the names of parts such as this one. */
function wholeOf(at: string): string | undefined {
  if (at.startsWith("$")) return at.includes(".") ? at.slice(0, at.lastIndexOf(".")) : undefined;
  return isParameter(at) ? at.slice(0, at.indexOf(" ")) : undefined;
}

/** Whether a place is a parameter of a header. */
export function isParameter(at: string): boolean {
  return /^[^$\s]+ \S+$/.test(at) && at !== "reason phrase";
}

function isHeader(at: string): boolean {
  return /^[^$\s]+$/.test(at) && at !== "body" && at !== "headers";
}
