import { pluralize } from "../report/plain-text.js";
import { minute } from "../rules/time.js";
import {
  type Attempt,
  type CompletedAttempt,
  completedWith,
  describeAttempt,
  isPermitted,
} from "./attempt.js";
import {
  type ContractDifference,
  type ContractOutcome,
  contractOutcomes,
  isLimit,
} from "./keys-of-outcomes.js";
import { describeMember, perMinutePath, wholeNumberIn } from "./response.js";
import type { Session } from "./session.js";

/** A control: without a key, no key's limit can be the reason for a 429. */
const withoutKey = { outcome: "401.missing" } as const;

/** Waits once for the next minute of a key, if an earlier comparison may have used it up, and sends its request again. */
export async function waitForMinute(session: Session, limited: Attempt): Promise<void> {
  if (limited.evidence.kind !== "used_up") return;
  const { why, wait } = limited.evidence;

  // One without a key, and the one of the key.
  const room = session.roomFor(2);
  if (room.kind === "no_room") {
    session.end(limited, ` ${why}, and --max-requests has no room to wait for the next minute`);
    return;
  }

  // A lock of the address also sends a 429 without a key: then waiting does not help.
  const control = await session.attempt(withoutKey);
  const isKeyLimited = control.kind === "sent" && control.attempt.response?.status === 401;
  const { options } = session;
  if (options.wait === undefined || !isKeyLimited) {
    session.end(limited, ` ${why}`);
    return;
  }

  const seconds = Math.ceil(wait / 1000);
  options.announce?.(
    `${limited.outcome} got ${describeAttempt(limited)}: an earlier comparison may have used up the minute of ${limited.variable}. Waits ${seconds} s, and sends the request again.`,
  );
  await options.wait(wait);
  await session.repeat(limited);
}

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
    await confirmLimit(session, keyed.attempt);
  }
  if (row.outcome !== "429.per_minute") return [];

  // With a working key: that one, if a minute has passed since it reached the limit, or any other.
  const spare = keyed.kind === "sent" ? keyed.attempt : working;
  if (spare === undefined || !isPermitted(spare)) return [];
  return tryMinute(session, spare);
}

/** Uses up the minute of a key. Resolves to a difference if all requests of one minute get 200. */
async function tryMinute(session: Session, spare: CompletedAttempt): Promise<ContractDifference[]> {
  const perMinute = wholeNumberIn(spare.response, perMinutePath);
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute)) {
    skipMinute(session, `per_minute is ${describeMember(spare.response, perMinutePath)}`);
    return [];
  }

  // A minute can start anywhere: so many requests in 60 seconds are too many in one of two minutes.
  const most = 2 * perMinute + 1;
  // One too many, and one to confirm the 429.
  const needed = perMinute + 2;
  session.raiseMaxRequests(most + 1);
  const left = session.requestsLeft();
  if (left < needed) {
    const room = `--max-requests ${session.requests + needed} has room for them`;
    skipMinute(session, `needs ${needed} requests, two more than per_minute, and ${left} are left; ${room}`);
    return [];
  }

  // One is left to confirm the 429.
  const planned = Math.min(most, left - 1);
  session.options.announce?.(
    `Sends up to ${pluralize(planned, "request")} with ${spare.variable}, until one gets 429. They use up this key's minute.`,
  );
  const probe = await sendUntilLimited(session, spare, { planned, perMinute });
  if (probe.kind === "rejected") {
    // The usual end: a request of the outcome itself was sent, and its response tells.
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

/** `rejected`: one of the requests got no 200, or could not be sent. */
type ProbeResult =
  | { readonly kind: "permitted"; readonly successes: readonly Attempt[] }
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
    // Before its limit, the key must work.
    const permitted = session.attempts.filter((one) => one.apiKey === apiKey && isPermitted(one));
    const outcome = permitted.length >= perMinute ? "429.per_minute" : spare.outcome;
    const result = await session.attempt({ outcome, apiKey, variable });
    if (result.kind === "not_sent") return { kind: "rejected" };
    const { attempt } = result;
    if (attempt.response?.status === 429) await confirmLimit(session, attempt);
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

/** Sends a request without a key after a key's 429, which shows nothing if that gets 429, too: a lock, or a limiter of the address. */
async function confirmLimit(session: Session, limited: Attempt): Promise<void> {
  if (limited.evidence.kind !== "counts") return;
  const control = await session.attempt(withoutKey);
  if (control.kind === "not_sent") {
    limited.evidence = { kind: "another_limit", why: "no request without a key could follow it" };
  } else if (control.attempt.response?.status === 429) {
    const why = `a request without a key got ${describeAttempt(control.attempt)}, too`;
    limited.evidence = { kind: "another_limit", why };
  }
}
