import { day, minute } from "../../rules/time.js";
import { headerOf, perDayPath, perMinutePath, wholeNumberIn } from "../response/parts.js";
import { type RedactedResponse, shownText } from "../response/response.js";
import type { CompletedAttempt } from "../sending/attempt.js";

// Limit headers have one of the two forms that the sandbox has, too: `legacy` is `X-RateLimit-Limit`, `-Remaining` and
// `-Reset`, `draft` is `RateLimit` and `RateLimit-Policy`. Their numbers must be what the form says: a limit of the key, the
// requests that remain, and seconds until the limit resets. In one response, a reset in milliseconds looks like one in seconds,
// and the number of requests that were sent looks like the number that remains. So the responses to a key are compared in
// their order, by the comparison's own clock.

export type LimitHeaders =
  | { readonly kind: "none" }
  | {
      readonly kind: "counted";
      readonly form: "legacy" | "draft";
      readonly counts: readonly LimitCount[];
    }
  /** In words. */
  | { readonly kind: "another_form"; readonly words: string };

interface LimitCount {
  /** Tells the limits of a key apart: `60 in 60 s`, or the name of an item. */
  readonly limitName: string;
  readonly remaining: number;
  /** Seconds. */
  readonly reset: number;
}

/** A limit of a key, as its 200s show it. */
interface KeyLimit {
  readonly quota: number;
  /** In seconds. */
  readonly window: number;
}

const legacyNames = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
const draftNames = ["ratelimit", "ratelimit-policy"];

/** A reset is whole seconds, and so can be one more or less at each of two responses. */
const roundingSeconds = 2;

/** Reads the limit headers of all responses, with what the responses to each key show together. */
export function readLimitHeaders(
  attempts: readonly CompletedAttempt[],
): ReadonlyMap<CompletedAttempt, LimitHeaders> {
  const headersByAttempt = new Map<CompletedAttempt, LimitHeaders>();
  for (const apiKey of new Set(attempts.map((attempt) => attempt.apiKey))) {
    const attemptsOfKey = attempts.filter((attempt) => attempt.apiKey === apiKey);
    const limits = collectLimits(attemptsOfKey);
    for (const attempt of attemptsOfKey) {
      headersByAttempt.set(attempt, readHeadersOfResponse(attempt.response, limits));
    }

    // If one number is of another kind, those of all responses to the key are.
    const flaw = findFlaw(attemptsOfKey, headersByAttempt);
    if (flaw === undefined) continue;
    for (const attempt of attemptsOfKey) {
      if (headersByAttempt.get(attempt)?.kind !== "counted") continue;
      headersByAttempt.set(attempt, { kind: "another_form", words: flaw });
    }
  }
  return headersByAttempt;
}

/** Returns the limits in the 200s of a key; none for 200s without limits, or with limits that are no whole numbers. */
function collectLimits(attempts: readonly CompletedAttempt[]): KeyLimit[] {
  const limits: KeyLimit[] = [];
  for (const { response } of attempts) {
    if (response.status !== 200) continue;
    const perMinute = wholeNumberIn(response, perMinutePath);
    const perDay = wholeNumberIn(response, perDayPath);
    if (perMinute !== undefined) limits.push({ quota: perMinute, window: minute / 1000 });
    if (perDay !== undefined) limits.push({ quota: perDay, window: day / 1000 });
  }
  return limits;
}

interface TimedCount extends LimitCount {
  readonly attempt: CompletedAttempt;
}

/** Finds what is wrong with numbers that look right in each response, in words. */
function findFlaw(
  attemptsOfKey: readonly CompletedAttempt[],
  headersByAttempt: ReadonlyMap<CompletedAttempt, LimitHeaders>,
): string | undefined {
  const countsByLimit = new Map<string, TimedCount[]>();
  for (const attempt of attemptsOfKey) {
    const headers = headersByAttempt.get(attempt);
    if (headers?.kind !== "counted") continue;
    for (const count of headers.counts) {
      const counts = countsByLimit.get(count.limitName) ?? [];
      counts.push({ ...count, attempt });
      countsByLimit.set(count.limitName, counts);
    }
  }

  for (const counts of countsByLimit.values()) {
    if (isResetInOtherUnits(counts)) return "limit headers whose reset does not count the seconds down";
    if (isCountingUp(counts)) return "limit headers whose remaining requests count up";
  }
  return undefined;
}

/**
 * Whether the reset of a limit changes in another way than by a second each second, although its window is not over: 30, and
 * 4 s later 26, is in seconds; 30000, and 4 s later 26000, is not.
 *
 * If the first request took from 0 s to 1 s, and its reset is 30, and the later one took from 5 s to 6 s, 4 s to 6 s have
 * passed for the server: the reset is 24 to 26, or 22 to 28 with rounding. A clock can also stand still.
 */
function isResetInOtherUnits(counts: readonly TimedCount[]): boolean {
  let [first] = counts;
  for (const later of counts) {
    if (first === undefined || later.reset === first.reset) continue;
    const shortest = (later.attempt.sentAt - first.attempt.receivedAt) / 1000;
    const longest = (later.attempt.receivedAt - first.attempt.sentAt) / 1000;
    const least = first.reset - longest - roundingSeconds;
    const most = first.reset - shortest + roundingSeconds;
    if (later.reset >= least && later.reset <= most) continue;
    // The window cannot be over.
    if (least > 0) return true;
    first = later;
  }
  return false;
}

/** Whether the "remaining" requests rise in a window, and never fall: 1, 2, 3. Then they are the requests that were sent. */
function isCountingUp(counts: readonly LimitCount[]): boolean {
  let [before] = counts;
  let hasRisen = false;
  let hasFallen = false;
  for (const count of counts) {
    // With a later reset, a new window has begun, and the count anew: a change shows nothing.
    if (before !== undefined && count.reset <= before.reset) {
      if (count.remaining > before.remaining) hasRisen = true;
      if (count.remaining < before.remaining) hasFallen = true;
    }
    before = count;
  }
  return hasRisen && !hasFallen;
}

/** Reads the limit headers of a response; `limits` are those of its key, none if they are not known. */
function readHeadersOfResponse(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders {
  // A header that comes twice is one list.
  const nameByLowerCase = new Map<string, string>();
  for (const [name] of response.headers) {
    const lowerCase = name.toLowerCase();
    const isNew = !nameByLowerCase.has(lowerCase);
    if (isNew && /rate-?limit/.test(lowerCase)) nameByLowerCase.set(lowerCase, name);
  }
  if (nameByLowerCase.size === 0) return { kind: "none" };

  const names = [...nameByLowerCase.values()];
  const anotherForm: LimitHeaders = {
    kind: "another_form",
    words: `another form of ${shownText(names.join(", "))}`,
  };
  const sortedNames = [...nameByLowerCase.keys()].sort().join();
  if (sortedNames === legacyNames.join()) return readLegacy(response, limits) ?? anotherForm;
  if (sortedNames === draftNames.join()) return readDraft(response, limits) ?? anotherForm;
  return anotherForm;
}

/** Reads the legacy headers; `undefined` if they are not in the sandbox's form. */
function readLegacy(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders | undefined {
  const quota = readWholeNumber(headerOf(response, "x-ratelimit-limit"));
  const remaining = readWholeNumber(headerOf(response, "x-ratelimit-remaining"));
  const reset = readWholeNumber(headerOf(response, "x-ratelimit-reset"));
  if (quota === undefined || remaining === undefined || reset === undefined) return undefined;
  if (remaining > quota) return undefined;

  const window = findWindow(limits, quota, reset);
  if (window === undefined) return undefined;
  const count: LimitCount = { limitName: `${quota} in ${window} s`, remaining, reset };
  return { kind: "counted", form: "legacy", counts: [count] };
}

/** Finds the window of the limit with a quota, in seconds. A reset above it is a time, or in other units. */
function findWindow(limits: readonly KeyLimit[], quota: number, reset: number): number | undefined {
  if (limits.length > 0) {
    return limits.find((limit) => limit.quota === quota && reset <= limit.window)?.window;
  }
  // The limits of the key are not known: any quota may be the one of a day.
  const secondsOfDay = day / 1000;
  return reset <= secondsOfDay ? secondsOfDay : undefined;
}

/**
 * Reads `RateLimit`, such as `"minute";r=12;t=30`, and `RateLimit-Policy`, such as `"minute";q=60;w=60`; `undefined` if they
 * are not in the sandbox's form: earlier drafts have other parameters.
 */
function readDraft(response: RedactedResponse, limits: readonly KeyLimit[]): LimitHeaders | undefined {
  const windowByName = readPolicies(response, limits);
  if (windowByName === undefined) return undefined;

  const longestWindow = Math.max(...windowByName.values());
  const counts: LimitCount[] = [];
  for (const { name, remaining, reset } of readItems(headerOf(response, "ratelimit"))) {
    if (remaining === undefined || reset === undefined) return undefined;
    // A limit without a policy of its name can have any of the windows.
    const window = windowByName.get(name) ?? longestWindow;
    if (reset > window) return undefined;
    counts.push({ limitName: name, remaining, reset });
  }
  return { kind: "counted", form: "draft", counts };
}

/** Reads the windows of the policies by their names, in seconds; `undefined` if one is no limit of the key. */
function readPolicies(
  response: RedactedResponse,
  limits: readonly KeyLimit[],
): ReadonlyMap<string, number> | undefined {
  const windowByName = new Map<string, number>();
  for (const { name, quota, window } of readItems(headerOf(response, "ratelimit-policy"))) {
    if (quota === undefined || window === undefined) return undefined;
    const isOfKey = limits.some((limit) => limit.quota === quota && limit.window === window);
    if (limits.length > 0 && !isOfKey) return undefined;
    // Of two policies with one name, the first counts.
    if (!windowByName.has(name)) windowByName.set(name, window);
  }
  return windowByName;
}

/** Returns the requests that remain in each limit, by the headers of a response in either form. */
export function remainingIn(response: RedactedResponse): number[] {
  const items = readItems(headerOf(response, "ratelimit")).map(({ remaining }) => remaining);
  const all = [readWholeNumber(headerOf(response, "x-ratelimit-remaining")), ...items];
  return all.filter((remaining) => remaining !== undefined);
}

/** Reads up to fifteen digits, which a number has exactly; `undefined` for anything else. */
function readWholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Reads a list of items, such as `"minute";r=12;t=30, "day";r=900;t=3600`: a comma before a name separates them. */
function readItems(list = "") {
  return list.split(/, *(?=["a-z])/i).map(readItem);
}

/** Reads one item: of `"minute";r=12;t=30`, the name is `"minute"`, 12 requests remain, and the reset is in 30 s. */
function readItem(text: string) {
  const [name = ""] = text.split(";");
  const parameter = (letter: string) => {
    const value = new RegExp(`; *${letter}=([^;,\\s]*)`).exec(text)?.[1];
    return readWholeNumber(value);
  };
  // A policy has the first two, in requests and seconds, and a limit the other two.
  return {
    name: name.trim(),
    quota: parameter("q"),
    window: parameter("w"),
    remaining: parameter("r"),
    reset: parameter("t"),
  };
}
