import { pluralize } from "../../report/plain-text.js";
import { minute } from "../../rules/time.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import { describeMember } from "../response/describe-response.js";
import { perMinutePath, wholeNumberIn } from "../response/members.js";
import { type Attempt, type CompletedAttempt, got200 } from "../sending/attempt.js";
import { sendAttempt } from "../sending/send-attempt.js";
import type { Session } from "../sending/session.js";
import { confirmLimit } from "./confirm-limit.js";
import { findOtherKey } from "./other-key.js";

// A key's minute is used up with requests until one gets 429. A minute of the key can start anywhere, so any 60 seconds are in
// two of its minutes at most. If 2 * per_minute + 1 requests get 200 in less than 60 seconds, one of the two minutes had too
// many: only then is it a difference that none got 429.

/**
 * Uses up the minute of the key with this 200. Returns a difference if all requests get 200, or other keys are limited, too.
 */
export async function useUpMinute(
  session: Session,
  success: CompletedAttempt,
): Promise<ContractDifference[]> {
  const plan = planProbe(session, success);
  if (plan.kind === "no_probe") {
    keepWhyMinuteNotTried(session, plan.why);
    return [];
  }

  session.options.announce?.(
    `Sends up to ${pluralize(plan.mostRequests, "request")} with ${success.variable}, until one gets 429. They use up this key's minute.`,
  );
  const probe = await sendUntilLimited(session, success, plan);
  switch (probe.kind) {
    case "limited":
      return confirmLimit(session, probe.limited);
    case "broken_off":
      keepWhyMinuteNotTried(session, `${success.variable} did not work until its limit`);
      return [];
    case "wrong_response":
      // Each attempt is judged alone.
      return [];
    case "all_200":
      return judgeWithoutLimit(session, probe.successes, plan);
  }
}

/** The requests that use up a minute. */
interface Probe {
  readonly kind: "probe";
  /** The key must work for so many requests of a minute. */
  readonly perMinute: number;
  /** So many requests with 200 in a minute prove that there is no limit. */
  readonly provingCount: number;
  /** So many requests are sent at most. */
  readonly mostRequests: number;
}

type ProbePlan = Probe | NoProbe;

interface NoProbe {
  readonly kind: "no_probe";
  readonly why: string;
}

/** Plans the requests, and raises the default of `--max-requests` for them. */
function planProbe(session: Session, success: CompletedAttempt): ProbePlan {
  const perMinute = wholeNumberIn(success.response, perMinutePath);
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute)) {
    return { kind: "no_probe", why: `per_minute is ${describeMember(success.response, perMinutePath)}` };
  }
  const { pace } = session.pacing;
  if (pace * perMinute >= minute) {
    const why = `one request in ${pace / 1000} s does not reach per_minute, ${perMinute}`;
    return { kind: "no_probe", why };
  }

  // After a 429, a request without a key and, if there is one, with another key that works.
  const controls = findOtherKey(session.attempts, success).kind === "key" ? 2 : 1;
  session.budget.raiseDefault(countProvingRequests(perMinute) + controls);
  return fitIntoBudget(session, perMinute, controls);
}

/** With a limit of 60, 121 requests with 200 in a minute prove that there is no limit. */
function countProvingRequests(perMinute: number): number {
  return 2 * perMinute + 1;
}

/**
 * A 429 can only come and be confirmed with the requests of one minute, one too many, and the controls: with a limit of 60 and
 * two controls, 63 requests are needed.
 */
function fitIntoBudget(session: Session, perMinute: number, controls: number): ProbePlan {
  const { budget } = session;
  const needed = perMinute + 1 + controls;
  if (session.mayStillSend(needed).kind === "refused") {
    const more = controls === 1 ? "two" : "three";
    const room = `--max-requests ${budget.sent + needed} has room for them`;
    const why = `needs ${needed} requests, ${more} more than per_minute, and ${budget.left} are left; ${room}`;
    return { kind: "no_probe", why };
  }
  const provingCount = countProvingRequests(perMinute);
  const mostRequests = Math.min(provingCount, budget.left - controls);
  return { kind: "probe", perMinute, provingCount, mostRequests };
}

/**
 * What comes of using up a minute:
 * - `all_200`: each request got 200
 * - `limited`: a request got the 429 of the key's limit
 * - `wrong_response`: a request that should have got the 429 got something else
 * - `broken_off`: the key did not work until its limit, or a request could not be sent
 */
type ProbeResult =
  | { readonly kind: "all_200"; readonly successes: readonly CompletedAttempt[] }
  | { readonly kind: "limited"; readonly limited: Attempt }
  | { readonly kind: "wrong_response" | "broken_off" };

/** Sends the requests of a probe, until one does not get 200. */
async function sendUntilLimited(
  session: Session,
  success: CompletedAttempt,
  { perMinute, mostRequests }: Probe,
): Promise<ProbeResult> {
  const { apiKey, variable } = success;
  const earlierSuccesses = session.attempts.filter(got200).filter((earlier) => earlier.apiKey === apiKey);
  const successes: CompletedAttempt[] = [];

  // Until the key has had the requests of a minute, it must work.
  const mustWork = Math.min(perMinute - earlierSuccesses.length, mostRequests);
  while (successes.length < mustWork) {
    const result = await sendAttempt(session, { outcome: success.outcome, apiKey, variable });
    if (result.kind === "not_sent" || !got200(result.attempt)) return { kind: "broken_off" };
    successes.push(result.attempt);
  }

  // From then on, the outcome to reach is the 429.
  while (successes.length < mostRequests) {
    const result = await sendAttempt(session, { outcome: "429.per_minute", apiKey, variable });
    if (result.kind === "not_sent") return { kind: "broken_off" };
    const { attempt } = result;
    const isOwnLimit = attempt.response?.status === 429 && attempt.evidence.kind === "judged";
    if (isOwnLimit) return { kind: "limited", limited: attempt };
    if (!got200(attempt)) return { kind: "wrong_response" };
    successes.push(attempt);
  }
  return { kind: "all_200", successes };
}

/** Judges that no request got 429: it is a difference if all that prove it came in less than a minute. */
function judgeWithoutLimit(
  session: Session,
  successes: readonly CompletedAttempt[],
  { perMinute, provingCount }: Probe,
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
  const found = `200 for ${requests} in less than a minute; per_minute is ${perMinute}`;
  return [{ rules: ["R22"], outcome: "429.per_minute", at: "status", expected: "429", found }];
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
  session.whyNotTried.set("429.per_minute", progress.kind === "running" ? why : progress.why);
}
