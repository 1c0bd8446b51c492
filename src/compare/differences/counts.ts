import { outcomeRow } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import type { Unjudged } from "../comparison.js";
import { readDate } from "../response/headers.js";
import { memberIn, todayPath } from "../response/members.js";
import { type Attempt, type CompletedAttempt, describeAttempt, got200 } from "../sending/attempt.js";

// `usage.today` must rise by one with each request of a key (R6, R24). Between two 200s, a new day may begin, and with it the
// count again at 1; and nobody knows whether a service counts a request that got no 200.

/** Two 200s of a key, the later one after the earlier one. */
export interface SuccessPair {
  readonly before: CompletedAttempt;
  readonly next: CompletedAttempt;
  /** The last request of the key between the two, which got no 200; `undefined` if there is none. */
  readonly between: Attempt | undefined;
}

/** Returns each 200 of a key with the 200 before it. */
export function pairSuccesses(attemptsOfKey: readonly Attempt[]): SuccessPair[] {
  const pairs: SuccessPair[] = [];
  let before: CompletedAttempt | undefined;
  let between: Attempt | undefined;
  for (const attempt of attemptsOfKey) {
    if (!got200(attempt)) {
      between = attempt;
      continue;
    }
    if (before !== undefined) pairs.push({ before, next: attempt, between });
    before = attempt;
    between = undefined;
  }
  return pairs;
}

/**
 * What the counts of a pair show:
 * - `agrees`: one more, or a new day has begun; or one of them is no number, which is another difference
 * - `differs`: something else; `rise` is how much more the later one is
 * - `open`: nobody can tell
 */
type CountComparison =
  | { readonly kind: "agrees" }
  | { readonly kind: "differs"; readonly rise: number }
  | { readonly kind: "open"; readonly why: string };

export function compareCounts({ before, next, between }: SuccessPair): CountComparison {
  if (between !== undefined) {
    return {
      kind: "open",
      why: `a request between the two got ${describeAttempt(between)}, and may be counted`,
    };
  }
  const countBefore = memberIn(before.response, todayPath);
  const count = memberIn(next.response, todayPath);
  if (typeof countBefore !== "number" || typeof count !== "number") return { kind: "agrees" };
  if (count === countBefore + 1) return { kind: "agrees" };
  if (count !== 1) return { kind: "differs", rise: count - countBefore };

  // The count starts again at 1 in a new day.
  if (countBefore > 1) return { kind: "agrees" };
  // From 1 to 1, only the dates can rule out a new day.
  switch (minutesOf(before, next)) {
    case "same_minute":
      return { kind: "differs", rise: count - countBefore };
    case "two_minutes":
      return { kind: "open", why: "it is 1 twice, in two minutes, and a new day may have begun in between" };
    case "no_date":
      return {
        kind: "open",
        why: "it is 1 twice, and without a Date, a new day may have begun in between",
      };
  }
}

/** Whether two responses are of one minute, by their dates; `no_date` if one of them has none. */
function minutesOf(
  before: CompletedAttempt,
  next: CompletedAttempt,
): "same_minute" | "two_minutes" | "no_date" {
  const minuteBefore = Math.floor(readDate(before.response) / minute);
  const minuteOfNext = Math.floor(readDate(next.response) / minute);
  if (Number.isNaN(minuteBefore) || Number.isNaN(minuteOfNext)) return "no_date";
  return minuteBefore === minuteOfNext ? "same_minute" : "two_minutes";
}

/** Returns the counts that stay open: no pair of 200s shows whether the requests of their key are counted. */
export function findOpenCounts(attempts: readonly Attempt[]): Unjudged[] {
  const openCounts: Unjudged[] = [];
  for (const apiKey of new Set(attempts.map((attempt) => attempt.apiKey))) {
    const attemptsOfKey = attempts.filter((attempt) => attempt.apiKey === apiKey);
    openCounts.push(...findOpenCountsOfKey(attemptsOfKey));
  }
  return openCounts;
}

/** The counts of a key are open only if each pair of its 200s is. */
function findOpenCountsOfKey(attemptsOfKey: readonly Attempt[]): Unjudged[] {
  const openCounts: Unjudged[] = [];
  for (const pair of pairSuccesses(attemptsOfKey)) {
    const comparison = compareCounts(pair);
    if (comparison.kind !== "open") return [];
    const { outcome } = pair.next;
    // The 200 of a key that should be rejected has a reason of its own.
    if (outcomeRow(outcome).status !== 200) continue;
    openCounts.push({ outcomes: [outcome], rule: "R24", at: "$.data.usage.today", why: comparison.why });
  }
  return openCounts;
}
