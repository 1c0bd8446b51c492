import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { isMapping } from "../rules/schema/shape.js";
import type { RedactedResponse } from "./response.js";

/** A cause of 401, and the parts of each 401 to it. */
export interface RejectionCause {
  readonly outcome: PromisedOutcomeId;
  readonly responses: readonly Parts[];
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

/** Compares each cause with the first one, at a place where only that one differs with the second. */
export function contrastsBetween(causes: readonly RejectionCause[]): Contrast[] {
  return comparedPlaces(causes).flatMap((at) => {
    const baseline = baselineAt(at, causes);
    return causes.flatMap((cause) => (cause === baseline ? [] : contrastOf(at, cause, baseline)));
  });
}

/** The first cause, unless it is the only one that differs from the second. */
function baselineAt(at: string, causes: readonly RejectionCause[]): RejectionCause | undefined {
  const [first, second, ...others] = causes;
  const isUnusual =
    others.length > 0 &&
    causes.every((cause) => cause === first || contrastOf(at, cause, first).length > 0) &&
    others.every((cause) => contrastOf(at, cause, second).length === 0);
  return isUnusual ? second : first;
}

/** Empty if the two agree, or if the responses to one of them do not agree with each other. */
export function contrastOf(
  at: string,
  cause: RejectionCause,
  baseline: RejectionCause | undefined,
): Contrast[] {
  if (baseline === undefined) return [];
  const [found, expected] = stayingTexts(at, [cause, baseline]) ?? [];
  // A text that varies as a whole, next to one that never does, follows the key or its node.
  const isFree = [
    [found, expected],
    [expected, found],
  ].some(
    ([varying, other]) => varying !== undefined && /^[…\s]+$/.test(varying) && other?.includes("…") === false,
  );
  return found === expected || isFree ? [] : [{ at, cause, baseline, found, expected }];
}

/**
 * The text of each cause at a place, without the words that differ between the responses of one cause. `undefined` if
 * these have different numbers of words.
 */
export function stayingTexts(
  at: string,
  causes: readonly RejectionCause[],
): (string | undefined)[] | undefined {
  const texts = causes.map(({ responses }) => responses.map((parts) => splitWords(parts.get(at))));
  if (texts.some(([first, ...more]) => more.some((words) => words?.length !== first?.length)))
    return undefined;
  const nameOf = (words: readonly string[], index: number) => `word ${index} of ${words.length}`;
  const varying = texts.flatMap(([first = [], ...more]) =>
    first.flatMap((word, i) => (more.some((words) => words?.[i] !== word) ? [nameOf(first, i)] : [])),
  );
  const isVarying = new Set(varying);
  return texts.map(([first]) =>
    first?.map((word, i) => (isVarying.has(nameOf(first, i)) ? "…" : word)).join(""),
  );
}

/** Spaces count, and the members of a value are words. */
function splitWords(text: string | undefined): readonly string[] | undefined {
  return text?.split(/(?=\s)(?<!\s)|(?<=\s)(?!\s)|(?<=[,:{[])/);
}

/** The places where responses to the causes differ, with their values; `undefined` for a response without it. */
export function varyingPlaces(causes: readonly RejectionCause[]): ComparedPlace[] {
  const values = (at: string) => causes.flatMap(({ responses }) => responses.map((parts) => parts.get(at)));
  return comparedPlaces(causes)
    .map((at) => ({ at, values: [...new Set(values(at))] }))
    .filter((one) => one.values.length > 1);
}

function comparedPlaces(causes: readonly RejectionCause[]): string[] {
  return [...new Set(causes.flatMap(({ responses }) => responses.flatMap((parts) => [...parts.keys()])))];
}

// By R14, only the presence of these is equal.
const freeHeaders = new Set(["date", "x-request-id"]);

export function partsOf({ reason, headers, text = "not UTF-8", json }: RedactedResponse): Parts {
  const parts = new Map([["reason phrase", reason]]);
  for (const [name, value] of headers) {
    const compared = freeHeaders.has(name.toLowerCase()) ? "present" : value;
    parts.set(name, parts.has(name) ? `${parts.get(name)}, ${compared}` : compared);
  }
  parts.set("headers", headers.map(([name]) => name).join(", "));
  for (const [at, value] of membersOf(json)) parts.set(at, value);
  return parts.set("body", text);
}

function membersOf(json: unknown): [at: string, value: string][] {
  if (!isMapping(json)) return json === undefined ? [] : [["$", JSON.stringify(json)]];
  const members = (value: object, at: string) =>
    Object.entries(value).map(([name, member]): [string, unknown] => [`${at}.${name}`, member]);
  const { error, ...others } = json;
  const ofError = isMapping(error) ? members(error, "$.error") : [];
  return [...ofError, ...members(others, "$")].map(([at, member]) => [at, JSON.stringify(member)]);
}

interface ComparedPlace {
  readonly at: string;
  readonly values: readonly (string | undefined)[];
}

/** Leaves out places that differ only because another one does. */
export function withoutDerived<Place extends ComparedPlace>(places: readonly Place[]): Place[] {
  const isIn = (pattern: RegExp) => places.some(({ at }) => pattern.test(at));
  const isHeaderMissing = places.some(({ at, values }) => isHeader(at) && values.includes(undefined));
  return places.filter(({ at }) => {
    if (at === "body") return !isIn(/^\$/);
    if (/^(?:content-length|etag)$/i.test(at)) return !isIn(/^\$|^body$/);
    // The order of the names can differ by itself.
    return at !== "headers" || !isHeaderMissing;
  });
}

function isHeader(at: string): boolean {
  return !at.startsWith("$") && !["body", "headers", "reason phrase"].includes(at);
}
