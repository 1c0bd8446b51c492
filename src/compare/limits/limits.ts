import { pluralize } from "../../report/plain-text.js";
import { minute } from "../../rules/time.js";
import { type ContractOutcome, contractOutcomes, isLimit } from "../contract/keys-of-outcomes.js";
import type { ContractDifference } from "../differences/contract-difference.js";
import { describeMember } from "../response/describe-response.js";
import { perDayPath, perMinutePath, todayPath, wholeNumberIn } from "../response/members.js";
import {
  type Attempt,
  type CompletedAttempt,
  completedWith,
  describeAttempt,
  isPermitted,
  withoutKey,
} from "../sending/attempt.js";
import type { Session } from "../sending/session.js";

/** Reaches the limits: with keys at their limits, or by using up a working key's minute if enough requests are left. */
export async function tryLimits(session: Session): Promise<ContractDifference[]> {
  const differences: ContractDifference[] = [];
  for (const row of contractOutcomes.filter(({ outcome }) => isLimit(outcome))) {
    if (session.options.probeLimits) differences.push(...(await tryLimit(session, row)));
    else session.skip(row.outcome, "limits are only reached on purpose with --probe-limits");
  }
  return differences;
}

async function tryLimit(session: Session, row: ContractOutcome): Promise<ContractDifference[]> {
  const [working] = completedWith(session.attempts, 200);

  // With a key that is at its limit.
  const keyed = await session.tryOutcome(row);
  if (keyed.kind === "sent" && keyed.attempt.response?.status === 429) {
    return confirmLimit(session, keyed.attempt);
  }
  if (row.outcome !== "429.per_minute") return [];

  // With a working key: that one, if a minute has passed since it reached the limit, or any other.
  const spare = keyed.kind === "sent" ? keyed.attempt : working;
  if (spare === undefined || !isPermitted(spare)) return [];
  return tryMinute(session, spare);
}

/** Uses up the minute of a key. Resolves to a difference if all requests of one minute get 200, or other keys are limited, too. */
async function tryMinute(session: Session, spare: CompletedAttempt): Promise<ContractDifference[]> {
  const perMinute = wholeNumberIn(spare.response, perMinutePath);
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute)) {
    skipMinute(session, `per_minute is ${describeMember(spare.response, perMinutePath)}`);
    return [];
  }

  if (session.pace * perMinute >= minute) {
    skipMinute(session, `one request in ${session.pace / 1000} s does not reach per_minute, ${perMinute}`);
    return [];
  }

  // A minute of the key can start anywhere, so 60 seconds are in two of its minutes at most. With 2 * perMinute + 1 requests
  // in them, one of the two minutes has too many.
  const most = 2 * perMinute + 1;
  const controls = findOtherKey(session, spare).kind === "found" ? 2 : 1;
  // At least: the requests of one minute, one too many, and the controls that confirm its 429.
  const needed = perMinute + 1 + controls;
  const more = controls === 1 ? "two" : "three";
  session.raiseMaxRequests(most + controls);
  const left = session.requestsLeft();
  if (left < needed) {
    const room = `--max-requests ${session.requests + needed} has room for them`;
    skipMinute(
      session,
      `needs ${needed} requests, ${more} more than per_minute, and ${left} are left; ${room}`,
    );
    return [];
  }

  const planned = Math.min(most, left - controls);
  session.options.announce?.(
    `Sends up to ${pluralize(planned, "request")} with ${spare.variable}, until one gets 429. They use up this key's minute.`,
  );
  const probe = await sendUntilLimited(session, spare, { planned, perMinute });
  if (probe.kind === "limited") return confirmLimit(session, probe.limited);
  if (probe.kind === "rejected") {
    // A request of the outcome itself may have been sent, and its response tells.
    const isTried = !session.untried.has("429.per_minute");
    if (!isTried) skipMinute(session, `${spare.variable} did not work until its limit`);
    return [];
  }

  const { successes } = probe;
  const requests = pluralize(successes.length, "request");
  const isOneMinute = millisecondsFrom(successes) < minute;
  if (successes.length < most || !isOneMinute) {
    skipMinute(
      session,
      `none of ${requests} got 429, but a minute may have ended between them; ${most} in one would show it`,
    );
    return [];
  }
  const found = `200 for ${requests} in less than a minute; per_minute is ${perMinute}`;
  return [{ rules: ["R22"], outcome: "429.per_minute", at: "status", expected: "429", found }];
}

/** The end of the comparison, if there is one, is the better reason. */
function skipMinute(session: Session, why: string): void {
  const { progress } = session;
  session.skip("429.per_minute", progress.kind === "running" ? why : progress.why);
}

interface PlannedRequests {
  readonly planned: number;
  readonly perMinute: number;
}

/** `limited`: one got the 429 of the key's limit. `rejected`: one got neither this nor 200, or could not be sent. */
type ProbeResult =
  | { readonly kind: "permitted"; readonly successes: readonly Attempt[] }
  | { readonly kind: "limited"; readonly limited: Attempt }
  | { readonly kind: "rejected" };

/** Sends the planned requests with a key, until one does not get 200. */
async function sendUntilLimited(
  session: Session,
  spare: CompletedAttempt,
  { planned, perMinute }: PlannedRequests,
): Promise<ProbeResult> {
  const { apiKey, variable } = spare;
  const successes: Attempt[] = [];
  while (successes.length < planned) {
    // Until the key has had perMinute requests, it must work; from then on, the outcome to reach is the 429.
    const permitted = session.attempts.filter((one) => one.apiKey === apiKey && isPermitted(one));
    const outcome = permitted.length >= perMinute ? "429.per_minute" : spare.outcome;
    const result = await session.attempt({ outcome, apiKey, variable });
    if (result.kind === "not_sent") return { kind: "rejected" };
    const { attempt } = result;
    const isLimited = attempt.response?.status === 429 && attempt.evidence.kind === "counts";
    if (isLimited) return { kind: "limited", limited: attempt };
    if (!isPermitted(attempt)) return { kind: "rejected" };
    successes.push(attempt);
  }
  return { kind: "permitted", successes };
}

/** The milliseconds in which all requests were sent and received. */
function millisecondsFrom(attempts: readonly Attempt[]): number {
  const first = attempts[0];
  const last = attempts.at(-1);
  if (first === undefined || last === undefined) return 0;
  return last.receivedAt - first.sentAt;
}

/**
 * Confirms that a 429 is the key's own: a request without a key gets none, and one with another working key gets 200.
 * Otherwise, it shows nothing. Resolves to a difference if the other key is limited, too (R25).
 */
async function confirmLimit(session: Session, limited: Attempt): Promise<ContractDifference[]> {
  if (limited.evidence.kind !== "counts") return [];
  const control = await session.control(withoutKey);
  if (control.kind === "not_sent") {
    limited.evidence = { kind: "another_limit", why: "no request without a key could follow it" };
    return [];
  }
  if (control.attempt.response?.status === 429) {
    const why = `a request without a key got ${describeAttempt(control.attempt)}, too`;
    limited.evidence = { kind: "another_limit", why };
    session.endByLimit(control.attempt);
    return [];
  }

  const otherKey = findOtherKey(session, limited);
  if (otherKey.kind === "none") {
    session.notes.push(`R25 was not judged for ${limited.outcome}: it needs another working key.`);
    return [];
  }
  return compareWithOtherKey(session, limited, otherKey.working);
}

/** A key at its limit must not affect another one (R25). */
async function compareWithOtherKey(
  session: Session,
  limited: Attempt,
  working: Attempt,
): Promise<ContractDifference[]> {
  const { outcome, apiKey, variable } = working;
  const control = await session.control({ outcome, apiKey, variable });
  if (control.kind === "not_sent") {
    limited.evidence = { kind: "another_limit", why: `no request with ${variable} could follow it` };
    return [];
  }
  const { attempt } = control;
  if (isPermitted(attempt)) return [];

  const got = describeAttempt(attempt);
  limited.evidence = { kind: "another_limit", why: `a request with ${variable} got ${got}, too` };
  if (attempt.response?.status !== 429) return [];

  // A lock of the address may have begun in between.
  const last = await session.control(withoutKey);
  if (last.kind === "sent" && last.attempt.response?.status === 429) {
    session.endByLimit(last.attempt);
    return [];
  }
  session.end(attempt, "shared_limit", "");
  if (last.kind === "not_sent") return [];
  const expected = `200 for ${variable}, although ${limited.variable} is at its limit`;
  return [{ rules: ["R25"], outcome: limited.outcome, at: "status", expected, found: got }];
}

type OtherKey = { readonly kind: "found"; readonly working: CompletedAttempt } | { readonly kind: "none" };

/** Finds the latest 200 of another key whose own limits are not used up. */
function findOtherKey(session: Session, limited: Attempt): OtherKey {
  const successes = completedWith(session.attempts, 200);
  const working = successes.findLast(({ apiKey, response }) => {
    if (apiKey === limited.apiKey) return false;
    const ofKey = successes.filter((one) => one.apiKey === apiKey);
    const perMinute = wholeNumberIn(response, perMinutePath) ?? Number.POSITIVE_INFINITY;
    const perDay = wholeNumberIn(response, perDayPath) ?? Number.POSITIVE_INFINITY;
    const today = wholeNumberIn(response, todayPath) ?? 0;
    return ofKey.length < perMinute && today < perDay;
  });
  return working === undefined ? { kind: "none" } : { kind: "found", working };
}
