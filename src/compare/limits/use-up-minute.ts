import { pluralize } from "../../report/plain-text.js";
import { minute } from "../../rules/time.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import { describeMember } from "../response/describe-response.js";
import { perMinutePath, wholeNumberIn } from "../response/members.js";
import { type Attempt, type CompletedAttempt, got200 } from "../sending/attempt.js";
import { sendAttempt } from "../sending/send-attempt.js";
import type { Session } from "../sending/session.js";
import { confirmLimit, findOtherKey } from "./confirm-limit.js";

// A key's minute is used up with requests until one gets 429. A minute of the key can start anywhere, so any 60 seconds are in
// two of its minutes at most. If 2 * perMinute + 1 requests get 200 in less than 60 seconds, one of the two minutes had too
// many: only then is it a difference that none got 429.

/**
 * Uses up the minute of the key with this 200. Returns a difference if all requests get 200, or other keys are limited, too.
 */
export async function useUpMinute(
  session: Session,
  success: CompletedAttempt,
): Promise<ContractDifference[]> {
  const limit = readPerMinute(session, success);
  if (limit.kind === "not_reachable") {
    keepWhyMinuteNotTried(session, limit.why);
    return [];
  }

  const { perMinute } = limit;
  const provingCount = 2 * perMinute + 1;
  // After a 429, a request without a key and, if there is one, with another key that works.
  const controls = findOtherKey(session, success) === undefined ? 1 : 2;
  session.raiseMaxRequests(provingCount + controls);
  const plan = planRequests(session, perMinute, controls);
  if (plan.kind === "too_few_left") {
    keepWhyMinuteNotTried(session, plan.why);
    return [];
  }

  const count = Math.min(provingCount, plan.most);
  session.options.announce?.(
    `Sends up to ${pluralize(count, "request")} with ${success.variable}, until one gets 429. They use up this key's minute.`,
  );
  const probe = await sendUntilLimited(session, success, perMinute, count);
  switch (probe.kind) {
    case "limited":
      return confirmLimit(session, probe.limited);
    case "broken_off":
      keepWhyMinuteNotTried(session, `${success.variable} did not work until its limit`);
      return [];
    case "another_response":
      // Each attempt is judged alone.
      return [];
    case "all_200":
      return judgeWithoutLimit(session, probe.successes, perMinute, provingCount);
  }
}

type PerMinute =
  | { readonly kind: "reachable"; readonly perMinute: number }
  | { readonly kind: "not_reachable"; readonly why: string };

/** Reads the limit from a response of the key. */
function readPerMinute({ pace }: Session, { response }: CompletedAttempt): PerMinute {
  const perMinute = wholeNumberIn(response, perMinutePath);
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute)) {
    return { kind: "not_reachable", why: `per_minute is ${describeMember(response, perMinutePath)}` };
  }
  if (pace * perMinute >= minute) {
    const why = `one request in ${pace / 1000} s does not reach per_minute, ${perMinute}`;
    return { kind: "not_reachable", why };
  }
  return { kind: "reachable", perMinute };
}

type RequestPlan =
  | { readonly kind: "enough"; readonly most: number }
  | { readonly kind: "too_few_left"; readonly why: string };

/** Returns how many requests may be sent at most, if a 429 can come and be confirmed with this many controls. */
function planRequests(session: Session, perMinute: number, controls: 1 | 2): RequestPlan {
  // The requests of one minute, one too many, and the controls.
  const needed = perMinute + 1 + controls;
  const left = session.requestsLeft();
  if (left >= needed) return { kind: "enough", most: left - controls };

  const more = controls === 1 ? "two" : "three";
  const room = `--max-requests ${session.requests + needed} has room for them`;
  const why = `needs ${needed} requests, ${more} more than per_minute, and ${left} are left; ${room}`;
  return { kind: "too_few_left", why };
}

/**
 * What comes of using up a minute:
 * - `all_200`: each request got 200
 * - `limited`: a request got the 429 of the key's limit
 * - `another_response`: a request that should have got the 429 got something else
 * - `broken_off`: the key did not work until its limit, or a request could not be sent
 */
type ProbeResult =
  | { readonly kind: "all_200"; readonly successes: readonly CompletedAttempt[] }
  | { readonly kind: "limited"; readonly limited: Attempt }
  | { readonly kind: "another_response" | "broken_off" };

/** Sends so many requests with a key, until one does not get 200. */
async function sendUntilLimited(
  session: Session,
  success: CompletedAttempt,
  perMinute: number,
  count: number,
): Promise<ProbeResult> {
  const { apiKey, variable } = success;
  const successes: CompletedAttempt[] = [];
  while (successes.length < count) {
    // Until the key has had perMinute requests, it must work; from then on, the outcome to reach is the 429.
    const ofKey = session.attempts.filter((attempt) => attempt.apiKey === apiKey);
    const isMinuteUsed = ofKey.filter(got200).length >= perMinute;
    const outcome = isMinuteUsed ? "429.per_minute" : success.outcome;
    const result = await sendAttempt(session, { outcome, apiKey, variable });
    if (result.kind === "not_sent") return { kind: "broken_off" };

    const { attempt } = result;
    const isLimited = attempt.response?.status === 429 && attempt.evidence.kind === "counts";
    if (isLimited) return { kind: "limited", limited: attempt };
    if (!got200(attempt)) return { kind: outcome === "429.per_minute" ? "another_response" : "broken_off" };
    successes.push(attempt);
  }
  return { kind: "all_200", successes };
}

/** Judges that no request got 429: it is a difference if all that prove it came in less than a minute. */
function judgeWithoutLimit(
  session: Session,
  successes: readonly CompletedAttempt[],
  perMinute: number,
  provingCount: number,
): ContractDifference[] {
  const requests = pluralize(successes.length, "request");
  const isInOneMinute = durationOf(successes) < minute;
  if (successes.length < provingCount || !isInOneMinute) {
    keepWhyMinuteNotTried(
      session,
      `none of ${requests} got 429, but a minute may have ended between them; ${provingCount} in one would show it`,
    );
    return [];
  }
  const actual = `200 for ${requests} in less than a minute; per_minute is ${perMinute}`;
  return [{ rules: ["R22"], outcome: "429.per_minute", at: "status", expected: "429", found: actual }];
}

/** The milliseconds in which all requests were sent and received. */
function durationOf(attempts: readonly Attempt[]): number {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (first === undefined || last === undefined) return 0;
  return last.receivedAt - first.sentAt;
}

/** The end of the comparison, if there is one, is the better reason. */
function keepWhyMinuteNotTried(session: Session, why: string): void {
  const { progress } = session;
  session.keepWhyNotTried("429.per_minute", progress.kind === "running" ? why : progress.why);
}
