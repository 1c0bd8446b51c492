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
import { countProvingRequests, planProbe } from "./probe-plan.js";

// A key's minute is used up with requests until one gets 429. A minute of the key can start anywhere, so any 60 seconds are in
// two of its minutes at most. If 2 * per_minute + 1 requests get 200 in less than 60 seconds, one of the two minutes had too
// many: only then is it a difference that none got 429.

/** What came of trying to reach a limit. */
export type TriedLimit =
  | { readonly kind: "tried"; readonly differences: readonly ContractDifference[] }
  | { readonly kind: "not_tried"; readonly why: string };

/** Uses up the minute of a key that works. It is a difference if all requests get 200, or other keys are limited, too. */
export async function useUpMinute(session: Session, working: CompletedAttempt): Promise<TriedLimit> {
  const { progress, budget, pacing } = session;
  if (progress.kind !== "running") return { kind: "not_tried", why: progress.why };
  const perMinute = wholeNumberIn(working.response, perMinutePath);
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute)) {
    return { kind: "not_tried", why: `per_minute is ${describeMember(working.response, perMinutePath)}` };
  }
  if (pacing.pace * perMinute >= minute) {
    const seconds = pacing.pace / 1000;
    return { kind: "not_tried", why: `one request in ${seconds} s does not reach per_minute, ${perMinute}` };
  }

  // After a 429, a request without a key and, if there is one, with another key that works.
  const controlCount = findOtherKey(session.attempts, working).kind === "key" ? 2 : 1;
  budget.raiseDefault(countProvingRequests(perMinute) + controlCount);
  const plan = planProbe(perMinute, controlCount, budget.left);
  if (plan.kind === "too_few_left") {
    const { neededRequests } = plan;
    const more = controlCount === 1 ? "two" : "three";
    const room = `--max-requests ${budget.sent + neededRequests} has room for them`;
    const why = `needs ${neededRequests} requests, ${more} more than per_minute, and ${budget.left} are left; ${room}`;
    return { kind: "not_tried", why };
  }
  const { mostRequests, provingRequests } = plan;
  session.options.announce?.(
    `Sends up to ${pluralize(mostRequests, "request")} with ${working.variable}, until one gets 429. They use up this key's minute.`,
  );
  const probe = await sendUntilLimited(session, working, perMinute, mostRequests);
  switch (probe.kind) {
    case "limited":
      return { kind: "tried", differences: await confirmLimit(session, probe.limited) };
    case "broken_off":
      return notTried(session, `${working.variable} did not work until its limit`);
    case "wrong_response":
      // Each attempt is judged alone.
      return { kind: "tried", differences: [] };
    case "all_200":
      return judgeWithoutLimit(session, probe.successes, perMinute, provingRequests);
  }
}

/** If the comparison has ended meanwhile, its end is the better reason. */
function notTried({ progress }: Session, why: string): TriedLimit {
  return { kind: "not_tried", why: progress.kind === "running" ? why : progress.why };
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

/** Sends so many requests at most, until one does not get 200. */
async function sendUntilLimited(
  session: Session,
  { outcome, variable, apiKey }: CompletedAttempt,
  perMinute: number,
  mostRequests: number,
): Promise<ProbeResult> {
  const earlierSuccesses = session.attempts.filter(got200).filter((earlier) => earlier.apiKey === apiKey);
  const successes: CompletedAttempt[] = [];

  // Until the key has had the requests of a minute, it must work.
  while (earlierSuccesses.length + successes.length < perMinute) {
    const result = await sendAttempt(session, { outcome, variable });
    if (result.kind === "not_sent" || !got200(result.attempt)) return { kind: "broken_off" };
    successes.push(result.attempt);
  }

  // From then on, the outcome to reach is the 429.
  while (successes.length < mostRequests) {
    const result = await sendAttempt(session, { outcome: "429.per_minute", variable });
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
  perMinute: number,
  provingRequests: number,
): TriedLimit {
  const requests = pluralize(successes.length, "request");
  const isInOneMinute = durationOf(successes) < minute;
  if (successes.length < provingRequests || !isInOneMinute) {
    return notTried(
      session,
      `none of ${requests} got 429, but a minute may have ended between them; ${provingRequests} in one would show it`,
    );
  }
  const found = `200 for ${requests} in less than a minute; per_minute is ${perMinute}`;
  const difference: ContractDifference = {
    rules: ["R22"],
    outcome: "429.per_minute",
    at: "status",
    expected: "429",
    found,
  };
  return { kind: "tried", differences: [difference] };
}

/** The milliseconds in which all requests were sent and received. */
function durationOf(attempts: readonly Attempt[]): number {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (first === undefined || last === undefined) return 0;
  return last.receivedAt - first.sentAt;
}
