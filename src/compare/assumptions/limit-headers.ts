import { day, minute } from "../../rules/time.js";
import { shownText } from "../response/describe.js";
import { headerOf } from "../response/headers.js";
import { numberText, perDayPath, perMinutePath } from "../response/members.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import type { CompletedAttempt } from "../sending/attempt.js";

// A limit header that the sandbox has, too, has one of two forms: `legacy` is `X-RateLimit-Limit`, `-Remaining` and
// `-Reset`, `draft` is `RateLimit` and `RateLimit-Policy`. Their numbers must be what the form says: a limit of the key,
// a count of requests that falls, and seconds until the limit resets. A time, or other units, look alike in one
// response. So all responses to a key are compared by the comparison's own clock.

/** What the limit headers of a response show. */
export type LimitHeaders =
  | { readonly kind: "none" }
  | { readonly kind: "legacy" | "draft"; readonly counts: readonly LimitCount[] }
  /** In words. */
  | { readonly kind: "another_form"; readonly words: string };

/** What is left of a limit. */
interface LimitCount {
  /** Tells the limits of a key apart. */
  readonly limit: string;
  readonly remaining: number;
  /** Seconds. */
  readonly reset: number;
}

/** A limit of a key, as its 200s show it. */
interface KeyLimit {
  /** The number of requests, with the digits of the body. */
  readonly quota: string;
  /** In seconds. */
  readonly window: number;
}

/** An item of `RateLimit` or `RateLimit-Policy`, with the parameters that the sandbox sends. */
interface LimitItem {
  readonly name: string;
  /** The quota and window in seconds of a policy. */
  readonly q: string | undefined;
  readonly w: string | undefined;
  /** The requests that remain of a limit, and the seconds until it resets. */
  readonly r: string | undefined;
  readonly t: string | undefined;
}

/** The count of a limit in one of the responses to a key. */
interface TimedCount extends LimitCount {
  /** The server read its clock in between, in seconds of the comparison's own clock. */
  readonly earliest: number;
  readonly latest: number;
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

const upToFifteenDigits = /^\d{1,15}$/;

/** A reset is whole seconds, and so can be one more or less at each of two responses. */
const roundingSeconds = 2;

/** Reads the limit headers of all responses, with what the responses to each key show together. */
export function readLimitHeaders(
  attempts: readonly CompletedAttempt[],
): ReadonlyMap<CompletedAttempt, LimitHeaders> {
  const headersByAttempt = new Map<CompletedAttempt, LimitHeaders>();
  for (const apiKey of new Set(attempts.map((attempt) => attempt.apiKey))) {
    const ofKey = attempts.filter((attempt) => attempt.apiKey === apiKey);
    const limits = collectLimits(ofKey);
    for (const attempt of ofKey) headersByAttempt.set(attempt, readHeadersOfOne(attempt.response, limits));

    const flaw = findFlaw(ofKey, headersByAttempt);
    if (flaw.kind === "none") continue;
    for (const attempt of ofKey) {
      const { kind } = headersByAttempt.get(attempt) ?? {};
      if (kind === "legacy" || kind === "draft") headersByAttempt.set(attempt, flaw.headers);
    }
  }
  return headersByAttempt;
}

/** Returns the limits in the 200s of a key. */
function collectLimits(ofKey: readonly CompletedAttempt[]): KeyLimit[] {
  const limits: KeyLimit[] = [];
  for (const { response } of ofKey) {
    if (response.status !== 200) continue;
    limits.push({ quota: numberText(response, perMinutePath), window: minute / 1000 });
    limits.push({ quota: numberText(response, perDayPath), window: day / 1000 });
  }
  return limits;
}

function readHeadersOfOne(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders {
  const names: string[] = [];
  for (const [name] of response.headers) if (/rate-?limit/i.test(name)) names.push(name);
  if (names.length === 0) return { kind: "none" };

  const sorted = names.map((name) => name.toLowerCase()).sort();
  const values = sorted.map((name) => headerOf(response, name) ?? "");
  const anotherForm: LimitHeaders = {
    kind: "another_form",
    words: `another form of ${shownText(names.join(", "))}`,
  };
  if (sorted.join() === legacyNames.join()) return readLegacy(values, limits, anotherForm);
  if (sorted.join() === draftNames.join()) return readDraft(values, limits, anotherForm);
  return anotherForm;
}

/** Reads a limit of the key, and seconds until its reset: a number above the window is a time, or in other units. */
function readLegacy(
  values: readonly string[],
  limits: readonly KeyLimit[],
  other: LimitHeaders,
): LimitHeaders {
  if (!values.every(isWholeNumber)) return other;
  const [quota = ""] = values;
  const [total = 0, remaining = 0, reset = 0] = values.map(Number);
  if (remaining > total) return other;

  // Without a 200 of the key, its limits are not known.
  const usual = { quota, window: day / 1000 };
  const limitOfKey =
    limits.length === 0 ? usual : limits.find((one) => one.quota === quota && reset <= one.window);
  if (limitOfKey === undefined || reset > limitOfKey.window) return other;
  const limit = `${quota} in ${limitOfKey.window} s`;
  return { kind: "legacy", counts: [{ limit, remaining, reset }] };
}

/** Reads limits of the key with the parameters of the sandbox: earlier drafts have others. */
function readDraft(
  values: readonly string[],
  limits: readonly KeyLimit[],
  other: LimitHeaders,
): LimitHeaders {
  const [items = [], policies = []] = values.map(readItems);
  for (const { q, w } of policies) {
    if (!isWholeNumber(q) || !isWholeNumber(w)) return other;
    const isOwn = limits.length === 0 || limits.some(({ quota }) => quota === q);
    if (!isOwn) return other;
  }

  // An item without a policy of its name may be of any window.
  const longest = Math.max(...policies.map(({ w }) => Number(w)));
  const counts: LimitCount[] = [];
  for (const { name, r, t } of items) {
    if (!isWholeNumber(r) || !isWholeNumber(t)) return other;
    const policy = policies.find((other) => other.name === name);
    const window = policy === undefined ? longest : Number(policy.w);
    if (Number(t) > window) return other;
    counts.push({ limit: name, remaining: Number(r), reset: Number(t) });
  }
  return { kind: "draft", counts };
}

function isWholeNumber(value: string | undefined): boolean {
  return value !== undefined && upToFifteenDigits.test(value);
}

/** Reads a list of items, such as `"minute";r=12;t=30, "day";r=900;t=3600`: a comma before a name separates them. */
function readItems(list: string): LimitItem[] {
  return list.split(/, *(?=["a-z])/i).map(readItem);
}

/** Reads one item: of `"minute";r=12;t=30`, the name is `"minute"`, `r` is `12`, and `t` is `30`. */
function readItem(text: string): LimitItem {
  const [name = ""] = text.split(";");
  const parameter = (letter: string) => new RegExp(`; *${letter}=([^;,\\s]*)`).exec(text)?.[1];
  return {
    name: name.trim(),
    q: parameter("q"),
    w: parameter("w"),
    r: parameter("r"),
    t: parameter("t"),
  };
}

/** What is wrong with the numbers of a key that look right in each response. */
type Flaw = { readonly kind: "none" } | { readonly kind: "found"; readonly headers: LimitHeaders };

/** Looks for numbers that only several responses to a key, one after the other, show to be of another kind. */
function findFlaw(
  ofKey: readonly CompletedAttempt[],
  headersByAttempt: ReadonlyMap<CompletedAttempt, LimitHeaders>,
): Flaw {
  for (const series of collectSeries(ofKey, headersByAttempt)) {
    if (!countsSeconds(series)) return flawOf("limit headers whose reset is not in seconds");
    if (countsUp(series)) return flawOf("limit headers whose remaining requests count up");
  }
  return { kind: "none" };
}

function flawOf(words: string): Flaw {
  return { kind: "found", headers: { kind: "another_form", words } };
}

/** Returns a series for each limit of a key: its counts in the order of the responses. */
function collectSeries(
  ofKey: readonly CompletedAttempt[],
  headersByAttempt: ReadonlyMap<CompletedAttempt, LimitHeaders>,
): TimedCount[][] {
  const seriesByLimit = new Map<string, TimedCount[]>();
  for (const attempt of ofKey) {
    const headers = headersByAttempt.get(attempt);
    if (headers?.kind !== "legacy" && headers?.kind !== "draft") continue;
    const earliest = attempt.sentAt / 1000;
    const latest = attempt.receivedAt / 1000;
    for (const count of headers.counts) {
      const series = seriesByLimit.get(count.limit) ?? [];
      series.push({ ...count, earliest, latest });
      seriesByLimit.set(count.limit, series);
    }
  }
  return [...seriesByLimit.values()];
}

/**
 * Whether the reset falls by a second each second, until a new window starts. A clock can also stand still.
 *
 * Seconds: a reset of 30, and 4 s later one of 26. Not seconds: 30000, and 4 s later 26000.
 */
function countsSeconds(series: readonly TimedCount[]): boolean {
  let firstOfWindow: TimedCount | undefined;
  for (const count of series) {
    firstOfWindow ??= count;
    const standsStill = count.reset === firstOfWindow.reset;
    if (standsStill) continue;

    const expected = expectReset(count, firstOfWindow);
    const isExpected = count.reset >= expected.least && count.reset <= expected.most;
    if (isExpected) continue;

    const canWindowBeOver = expected.least <= 0;
    if (!canWindowBeOver) return false;
    firstOfWindow = count;
  }
  return true;
}

/**
 * The reset that a later response of a window has, in seconds: the first one, less the time since then.
 *
 * The server read its clock somewhere between the request and the response. So of two requests that took 1 s each, from 0 s
 * to 1 s and from 5 s to 6 s, the time between is 4 s to 6 s. After a reset of 30, it is 24 to 26, and 22 to 28 with rounding.
 */
function expectReset(
  later: TimedCount,
  first: TimedCount,
): { readonly least: number; readonly most: number } {
  const shortestTime = later.earliest - first.latest;
  const longestTime = later.latest - first.earliest;
  return {
    least: first.reset - longestTime - roundingSeconds,
    most: first.reset - shortestTime + roundingSeconds,
  };
}

/** Whether the "remaining" requests rise in a window, and never fall: then they are the requests that were sent. */
function countsUp(series: readonly LimitCount[]): boolean {
  let hasRisen = false;
  for (const [index, count] of series.entries()) {
    const before = series[index - 1];
    if (before === undefined) continue;
    if (count.remaining < before.remaining) return false;

    // In a new window, whose reset is later, all requests remain again: such a rise shows nothing.
    const isNewWindow = count.reset > before.reset;
    if (count.remaining > before.remaining && !isNewWindow) hasRisen = true;
  }
  return hasRisen;
}
