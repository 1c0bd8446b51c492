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
export async function waitForMinute(session: Session, limited: Attempt | undefined): Promise<void> {
  if (limited?.uncounted?.kind !== "used_up") return;
  const { why, wait } = limited.uncounted;

  // One without a key, and the one of the key.
  const needed = 2;
  if (session.requestsLeft() < needed) {
    session.end(limited, ` ${why}, and --max-requests has no room to wait for the next minute`);
    return;
  }

  // A lock of the address also sends a 429 without a key: then waiting does not help.
  const control = await session.attempt(withoutKey);
  const { options } = session;
  if (options.wait === undefined || control?.response?.status !== 401) {
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
  for (const row of contractOutcomes.filter(isLimit)) {
    if (!session.options.probeLimits) {
      session.skip(row.outcome, "limits are only reached on purpose with --probe-limits");
      continue;
    }
    const difference = await tryLimit(session, row);
    if (difference !== undefined) differences.push(difference);
  }
  return differences;
}

async function tryLimit(session: Session, row: ContractOutcome): Promise<ContractDifference | undefined> {
  const [working] = completedWith(session.attempts, 200);

  // With a key that is at its limit.
  const keyed = await session.tryOutcome(row);
  if (keyed?.response?.status === 429) await confirmLimit(session, keyed);
  if (row.outcome !== "429.per_minute") return undefined;

  // With a working key: that one, if a minute has passed since it reached the limit, or any other.
  const spare = keyed ?? working;
  return isPermitted(spare) ? tryMinute(session, spare) : undefined;
}

/** Uses up the minute of a key. Resolves to the difference if all requests of one minute get 200. */
async function tryMinute(session: Session, spare: CompletedAttempt): Promise<ContractDifference | undefined> {
  const perMinute = wholeNumberIn(spare.response, perMinutePath);
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute)) {
    skipMinute(session, `per_minute is ${describeMember(spare.response, perMinutePath)}`);
    return undefined;
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
    return undefined;
  }

  // One is left to confirm the 429.
  const planned = Math.min(most, left - 1);
  session.options.announce?.(
    `Sends up to ${pluralize(planned, "request")} with ${spare.variable}, until one gets 429. They use up this key's minute.`,
  );
  const successes = await sendUntilLimited(session, spare, { planned, perMinute });
  if (successes === undefined) {
    // The usual end: a request of the outcome itself was sent, and its response tells.
    const isTried = !session.untried.has("429.per_minute");
    if (!isTried) skipMinute(session, `${spare.variable} did not work until its limit`);
    return undefined;
  }

  const requests = pluralize(successes.length, "request");
  const isOneMinute = millisecondsFrom(successes) < minute;
  if (successes.length < most || !isOneMinute) {
    skipMinute(
      session,
      `none of ${requests} got 429, but a minute may have ended between them; ${most} in one would show it`,
    );
    return undefined;
  }
  const found = `200 for ${requests} in less than a minute; per_minute is ${perMinute}`;
  return { rules: ["R22"], outcome: "429.per_minute", at: "status", expected: "429", found };
}

/** The end of the comparison, if there is one, is the better reason. */
function skipMinute(session: Session, why: string): void {
  session.skip("429.per_minute", session.ended?.why ?? why);
}

interface PlannedRequests {
  readonly planned: number;
  readonly perMinute: number;
}

/** Sends the planned requests with a key. Resolves to their attempts; to `undefined` at the first one without a 200. */
async function sendUntilLimited(
  session: Session,
  spare: CompletedAttempt,
  { planned, perMinute }: PlannedRequests,
): Promise<Attempt[] | undefined> {
  const { apiKey, variable } = spare;
  const sent: Attempt[] = [];
  while (sent.length < planned) {
    // Before its limit, the key must work.
    const successes = session.attempts.filter((one) => one.apiKey === apiKey && isPermitted(one));
    const outcome = successes.length >= perMinute ? "429.per_minute" : spare.outcome;
    const attempt = await session.attempt({ outcome, apiKey, variable });
    if (attempt?.response?.status === 429) await confirmLimit(session, attempt);
    if (!isPermitted(attempt)) return undefined;
    sent.push(attempt);
  }
  return sent;
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
  if (limited.uncounted !== undefined) return;
  const control = await session.attempt(withoutKey);
  if (control === undefined) session.withdraw(limited, "no request without a key could follow it");
  else if (control.response?.status === 429)
    session.withdraw(limited, `a request without a key got ${describeAttempt(control)}, too`);
}
