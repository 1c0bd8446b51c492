import { day, minute } from "../../rules/time.js";
import { perDayPath, perMinutePath, wholeNumberIn } from "../response/members.js";
import type { CompletedAttempt } from "../sending/attempt.js";
import { type KeyLimit, type LimitCount, type LimitHeaders, readHeadersOfResponse } from "./limit-headers.js";

// In one response, a reset in milliseconds looks like one in seconds, and the number of requests that were sent looks like
// the number that remains. So the responses to a key are compared in their order, by the comparison's own clock.

/** The limit headers of a response to a key. */
interface HeadersOfAttempt {
  readonly attempt: CompletedAttempt;
  readonly headers: LimitHeaders;
}

/** The count of a limit in one of the responses to a key. */
interface TimedCount extends LimitCount {
  /** On the comparison's own clock, in seconds. The server read its clock in between. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

/** What is wrong with numbers that look right in each response. */
type Flaw = "none" | "reset_in_other_units" | "remaining_counts_up";

const wordsOfFlaws: Readonly<Record<Exclude<Flaw, "none">, string>> = {
  reset_in_other_units: "limit headers whose reset does not count the seconds down",
  remaining_counts_up: "limit headers whose remaining requests count up",
};

/** A reset is whole seconds, and so can be one more or less at each of two responses. */
const roundingSeconds = 2;

/** Reads the limit headers of all responses, with what the responses to each key show together. */
export function readLimitHeaders(
  attempts: readonly CompletedAttempt[],
): ReadonlyMap<CompletedAttempt, LimitHeaders> {
  const headersByAttempt = new Map<CompletedAttempt, LimitHeaders>();
  for (const apiKey of new Set(attempts.map((attempt) => attempt.apiKey))) {
    const attemptsOfKey = attempts.filter((attempt) => attempt.apiKey === apiKey);
    for (const { attempt, headers } of readHeadersOfKey(attemptsOfKey)) {
      headersByAttempt.set(attempt, headers);
    }
  }
  return headersByAttempt;
}

function readHeadersOfKey(attempts: readonly CompletedAttempt[]): HeadersOfAttempt[] {
  const limits = collectLimits(attempts);
  const inEachResponse = attempts.map((attempt): HeadersOfAttempt => {
    return { attempt, headers: readHeadersOfResponse(attempt.response, limits) };
  });
  const flaw = findFlaw(collectSeries(inEachResponse));
  if (flaw === "none") return inEachResponse;

  // The numbers of all responses to the key are of another kind.
  const flawed: LimitHeaders = { kind: "another_form", words: wordsOfFlaws[flaw] };
  return inEachResponse.map(({ attempt, headers }) => {
    return { attempt, headers: headers.kind === "counted" ? flawed : headers };
  });
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

/** Returns a series for each limit of a key: its counts in the order of the responses. */
function collectSeries(headersInOrder: readonly HeadersOfAttempt[]): TimedCount[][] {
  const seriesByLimit = new Map<string, TimedCount[]>();
  for (const { attempt, headers } of headersInOrder) {
    if (headers.kind !== "counted") continue;
    const sentAt = attempt.sentAt / 1000;
    const receivedAt = attempt.receivedAt / 1000;
    for (const count of headers.counts) {
      const series = seriesByLimit.get(count.limitName) ?? [];
      series.push({ ...count, sentAt, receivedAt });
      seriesByLimit.set(count.limitName, series);
    }
  }
  return [...seriesByLimit.values()];
}

function findFlaw(seriesOfLimits: readonly (readonly TimedCount[])[]): Flaw {
  for (const series of seriesOfLimits) {
    if (isResetInOtherUnits(series)) return "reset_in_other_units";
    if (isCountingUp(series)) return "remaining_counts_up";
  }
  return "none";
}

/**
 * Whether the reset of a limit changes in another way than by a second each second, although its window is not over.
 *
 * Seconds: a reset of 30, and 4 s later a reset of 26. Other units: 30000, and 4 s later 26000.
 */
function isResetInOtherUnits([first, ...later]: readonly TimedCount[]): boolean {
  if (first === undefined) return false;
  let firstOfWindow = first;
  for (const count of later) {
    switch (readChange(firstOfWindow, count)) {
      case "seconds":
        break;
      case "new_window":
        firstOfWindow = count;
        break;
      case "other_units":
        return true;
    }
  }
  return false;
}

/**
 * How a reset has changed since the first one of its window:
 * - `seconds`: by a second each second, or not at all, since a clock can stand still
 * - `new_window`: in another way, since the window can be over
 * - `other_units`: in another way, although the window cannot be over
 */
function readChange(first: TimedCount, later: TimedCount): "seconds" | "new_window" | "other_units" {
  const { least, most } = expectReset(first, later);
  const hasStoodStill = later.reset === first.reset;
  const hasCountedDown = later.reset >= least && later.reset <= most;
  if (hasStoodStill || hasCountedDown) return "seconds";

  const canWindowBeOver = least <= 0;
  return canWindowBeOver ? "new_window" : "other_units";
}

/**
 * The reset that a later response of a window has, in seconds: the first reset, less the time since then.
 *
 * For example, the first request took from 0 s to 1 s, and its reset is 30. The later one took from 5 s to 6 s. The server
 * read its clock at any time in between: 4 s to 6 s have passed, and the reset is 24 to 26, or 22 to 28 with rounding.
 */
function expectReset(
  first: TimedCount,
  later: TimedCount,
): { readonly least: number; readonly most: number } {
  const shortestTime = later.sentAt - first.receivedAt;
  const longestTime = later.receivedAt - first.sentAt;
  return {
    least: first.reset - longestTime - roundingSeconds,
    most: first.reset - shortestTime + roundingSeconds,
  };
}

/** Whether the "remaining" requests rise in a window, and never fall: 1, 2, 3. Then they are the requests that were sent. */
function isCountingUp([first, ...later]: readonly LimitCount[]): boolean {
  if (first === undefined) return false;
  let before = first;
  let hasRisen = false;
  let hasFallen = false;
  for (const count of later) {
    // With a later reset, a new window has begun, and the count anew: a change shows nothing.
    const isSameWindow = count.reset <= before.reset;
    if (isSameWindow && count.remaining > before.remaining) hasRisen = true;
    if (isSameWindow && count.remaining < before.remaining) hasFallen = true;
    before = count;
  }
  return hasRisen && !hasFallen;
}
