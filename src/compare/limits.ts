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

const withoutKey = { outcome: "401.missing" } as const;

/** Waits once for the next minute of a key, if an earlier comparison may have used it up, and sends its request again. */
export async function waitForMinute(session: Session, limited: Attempt | undefined): Promise<void> {
  if (limited?.uncounted?.kind !== "used_up") return;
  const { why, wait } = limited.uncounted;

  // One without a key, and the one of the key.
  const needed = 2;
  if (session.left() < needed)
    return session.end(limited, ` ${why}, and --max-requests has no room to wait for the next minute`);

  // Without a key, a lock of the address responds with 429, too.
  const control = await session.attempt(withoutKey);
  const { options } = session;
  if (options.wait === undefined || control?.response?.status !== 401) return session.end(limited, ` ${why}`);

  const seconds = Math.ceil(wait / 1000);
  options.announce?.(
    `${limited.outcome} got ${describeAttempt(limited)}: an earlier comparison may have used up the minute of ${limited.variable}. Waits ${seconds} s, and sends the request again.`,
  );
  await options.wait(wait);
  await session.again(limited);
}

/** Reaches the limits: with keys at their limits, or by using up a working key's minute if enough requests are left. */
export async function tryLimits(session: Session): Promise<ContractDifference[]> {
  const differences: ContractDifference[] = [];
  for (const row of contractOutcomes.filter(isLimit)) {
    if (session.options.probeLimits) differences.push(...(await tryLimit(session, row)));
    else session.skip(row.outcome, "limits are only reached on purpose with --probe-limits");
  }
  return differences;
}

async function tryLimit(session: Session, row: ContractOutcome): Promise<ContractDifference[]> {
  const [working] = completedWith(session.attempts, 200);
  const keyed = await session.tryOutcome(row);
  if (keyed?.response?.status === 429) await confirm(session, keyed);
  if (row.outcome !== "429.per_minute") return [];

  // A minute may have passed since its key reached the limit.
  const spare = keyed ?? working;
  return isPermitted(spare) ? tryMinute(session, spare) : [];
}

async function tryMinute(session: Session, spare: CompletedAttempt): Promise<ContractDifference[]> {
  const perMinute = wholeNumberIn(spare.response, perMinutePath);
  const skip = (why: string) => {
    session.skip("429.per_minute", session.ended?.why ?? why);
    return [];
  };
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute))
    return skip(`per_minute is ${describeMember(spare.response, perMinutePath)}`);

  // A minute can start anywhere: so many requests in 60 seconds are too many in one of two minutes.
  const most = 2 * perMinute + 1;
  const needed = perMinute + 2;
  session.makeRoomFor(most + 1);
  const left = session.left();
  if (left < needed) {
    const room = `--max-requests ${session.requests + needed} has room for them`;
    return skip(`needs ${needed} requests, two more than per_minute, and ${left} are left; ${room}`);
  }

  // One is left to confirm the 429.
  const planned = Math.min(most, left - 1);
  session.options.announce?.(
    `Sends up to ${pluralize(planned, "request")} with ${spare.variable}, until one gets 429. They use up this key's minute.`,
  );
  const successes = await useUpMinute(session, spare, { planned, perMinute });
  if (successes === undefined) {
    // If its own request was sent, the response to that tells.
    if (!session.untried.has("429.per_minute")) return [];
    return skip(`${spare.variable} did not work until its limit`);
  }

  const requests = pluralize(successes.length, "request");
  const isOneMinute = durationOf(successes) < minute;
  if (successes.length < most || !isOneMinute)
    return skip(
      `none of ${requests} got 429, but a minute may have ended between them; ${most} in one would show it`,
    );
  const found = `200 for ${requests} in less than a minute; per_minute is ${perMinute}`;
  return [{ rules: ["R22"], outcome: "429.per_minute", at: "status", expected: "429", found }];
}

/** The milliseconds in which all requests were sent and received. */
function durationOf(attempts: readonly Attempt[]): number {
  const [first] = attempts;
  const last = attempts.at(-1);
  return first === undefined || last === undefined ? 0 : last.receivedAt - first.sentAt;
}

/** Resolves to the attempts if all of them get 200. */
async function useUpMinute(
  session: Session,
  spare: CompletedAttempt,
  { planned, perMinute }: { readonly planned: number; readonly perMinute: number },
): Promise<Attempt[] | undefined> {
  const { apiKey, variable } = spare;
  const sent: Attempt[] = [];
  while (sent.length < planned) {
    // Before its limit, the key must work.
    const successes = session.attempts.filter((one) => one.apiKey === apiKey && isPermitted(one));
    const outcome = successes.length >= perMinute ? "429.per_minute" : spare.outcome;
    const attempt = await session.attempt({ outcome, apiKey, variable });
    if (attempt?.response?.status === 429) await confirm(session, attempt);
    if (!isPermitted(attempt)) return undefined;
    sent.push(attempt);
  }
  return sent;
}

/** Sends a request without a key after a 429: a lock, or a limiter of the address, sends it one, too. */
async function confirm(session: Session, limited: Attempt): Promise<void> {
  if (limited.uncounted !== undefined) return;
  const control = await session.attempt(withoutKey);
  if (control === undefined) session.withdraw(limited, "no request without a key could follow it");
  else if (control.response?.status === 429)
    session.withdraw(limited, `a request without a key got ${describeAttempt(control)}, too`);
}
