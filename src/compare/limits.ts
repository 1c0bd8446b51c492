import { pluralize } from "../report/plain-text.js";
import { minute } from "../rules/time.js";
import {
  type Attempt,
  type CompletedAttempt,
  describeAttempt,
  got200,
  leaveUnjudged,
  rightful200s,
} from "./attempts.js";
import type { ContractDifference } from "./findings.js";
import { judgeAttempt } from "./judge.js";
import { type ContractOutcome, contractOutcomes, findKey, isLimit, textOfVariable } from "./keys.js";
import { betweenPasses } from "./passes.js";
import { describeValue, memberIn, perMinutePath, readDayUse, wholeNumberIn } from "./response.js";
import type { Session } from "./session.js";

// The limits are reached last: with keys at their limits, or by using up the minute of a key that works. A minute of the key
// can start anywhere, so any 60 seconds are in two of its minutes at most: if 2 * per_minute + 1 requests get 200 in less than
// 60 seconds, one of the two minutes had too many. Only then is it a difference that none got 429. For a `per_minute` of 60:
//
// | requests | count | why |
// |---|---|---|
// | until the 429 | 61 | 60 may get 200, and the next one gets 429 |
// | needed | 63 | these, and two controls: without a key, and with another one |
// | that prove that there is no limit | 121 | any 60 s are in two minutes of the key: of 121, one had 61 |
// | at most | 121 | with fewer left, what the controls leave: 98 of 100 |

/** The requests that follow the 429 of a key at its limit. */
const controls = 2;
/** So often does a wrong 429 come, and a 429 of another key, before it is a difference. */
const mostTries = 3;

/** Returns the differences that need more than one response. */
export async function tryLimits(session: Session): Promise<ContractDifference[]> {
  const differences: ContractDifference[] = [];
  for (const row of contractOutcomes) {
    if (!isLimit(row.outcome)) continue;
    if (session.options.probeLimits) differences.push(...(await tryLimit(session, row)));
    else leaveOut(session, row, "limits are only reached on purpose with --probe-limits");
  }
  return differences;
}

async function tryLimit(session: Session, row: ContractOutcome): Promise<ContractDifference[]> {
  const { outcome, variables } = row;
  const { env } = session.options;
  const key = findKey(row, env);
  if (key.kind === "key") {
    // Its key should be at the limit. One that is not can still use up its minute.
    const result = await session.send({ outcome, variable: key.variable });
    if (result.kind === "not_sent") return leaveOut(session, row, result.why);
    const { attempt } = result;
    const canReach = outcome === "429.per_minute" && got200(attempt);
    return canReach ? useUpMinute(session, row, attempt) : confirmLimit(session, attempt);
  }

  const isAnySet = variables.some((variable) => textOfVariable(variable, env) !== "");
  if (outcome === "429.per_day" || isAnySet) return leaveOut(session, row, key.why);
  const [working] = rightful200s(session.attempts);
  if (working === undefined) return leaveOut(session, row, "needs a key that works");
  return useUpMinute(session, row, working);
}

function leaveOut({ whyNotTried }: Session, { outcome }: ContractOutcome, why: string): [] {
  whyNotTried.set(outcome, why);
  return [];
}

/** Uses up the minute of a key that works, with requests until one gets 429. */
async function useUpMinute(
  session: Session,
  row: ContractOutcome,
  working: CompletedAttempt,
): Promise<ContractDifference[]> {
  const { pace, options, end } = session;
  const { variable, response } = working;
  if (end !== undefined) return leaveOut(session, row, end.why);
  const perMinute = wholeNumberIn(response, perMinutePath);
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute)) {
    return leaveOut(session, row, `per_minute is ${describeValue(memberIn(response, perMinutePath))}`);
  }
  if (pace * perMinute >= minute) {
    const why = `one request in ${pace / 1000} s does not reach per_minute, ${perMinute}`;
    return leaveOut(session, row, why);
  }

  // The table above: what is needed, and what would prove that there is no limit.
  const needed = perMinute + 1 + controls;
  const proving = 2 * perMinute + 1;
  const left = session.requestsLeft;
  if (left < needed) {
    const room = `--max-requests ${session.sent + needed} has room for them`;
    const why = `needs ${needed} requests, three more than per_minute, and ${left} are left; ${room}`;
    return leaveOut(session, row, why);
  }
  const most = Math.min(proving, left - controls);
  options.announce?.(
    `Sends up to ${pluralize(most, "request")} with ${variable}, until one gets 429. They use up this key's minute.`,
  );
  return sendUntilLimit(session, row, working, { perMinute, most });
}

/** Sends a key at most so many times. Until it has had the requests of a minute, it must work: then its outcome is the 429. */
async function sendUntilLimit(
  session: Session,
  row: ContractOutcome,
  { outcome, variable, apiKey }: CompletedAttempt,
  { perMinute, most }: { readonly perMinute: number; readonly most: number },
): Promise<ContractDifference[]> {
  const earlier = session.attempts.filter((attempt) => got200(attempt) && attempt.apiKey === apiKey).length;
  const successes: CompletedAttempt[] = [];
  while (successes.length < most) {
    const mustWork = earlier + successes.length < perMinute;
    const result = await session.send({ outcome: mustWork ? outcome : row.outcome, variable });
    if (result.kind === "not_sent") return leaveOut(session, row, result.why);
    const { attempt } = result;
    if (got200(attempt)) {
      successes.push(attempt);
      continue;
    }
    if (mustWork) {
      return leaveOut(session, row, session.end?.why ?? `${variable} did not work until its limit`);
    }
    return confirmLimit(session, attempt);
  }

  // None got 429: it is a difference if all that prove it came in less than a minute.
  const requests = pluralize(successes.length, "request");
  const duration = (successes.at(-1)?.receivedAt ?? 0) - (successes[0]?.sentAt ?? 0);
  const proving = 2 * perMinute + 1;
  if (successes.length < proving || duration >= minute) {
    const why = `none of ${requests} got 429, but a minute may have ended between them; ${proving} in one would show it`;
    return leaveOut(session, row, why);
  }
  const found = `200 for ${requests} in less than a minute; per_minute is ${perMinute}`;
  return [{ rules: ["R22"], outcome: row.outcome, at: "status", expected: "429", found }];
}

/**
 * Confirms that a key at its limit gets a 429, and that it is the limit of this key: a response with another status or in a wrong form
 * comes again. Another working key must not be affected (R25), and at last a request without a key must not get 429.
 */
async function confirmLimit(session: Session, limited: Attempt): Promise<ContractDifference[]> {
  const { outcome, variable } = limited;
  for (let tries = 1; tries < mostTries && judgeAttempt(limited).length > 0; tries++) {
    await session.wait(betweenPasses);
    await session.send({ outcome, variable });
  }
  if (limited.response?.status !== 429) return [];
  const differences = await compareOtherKey(session, limited);

  const control = await session.sendOnce({ outcome: "401.missing" });
  if (control.kind === "not_sent") {
    leaveUnjudged(limited, `no request without a key could follow it: ${control.why}`);
    return [];
  }
  const { attempt } = control;
  if (attempt.response?.status !== 429) return differences;
  leaveUnjudged(limited, `a request without a key then got ${describeAttempt(attempt)}`);
  session.endAt(attempt, "limit", "Try again later.");
  return [];
}

/**
 * Sends another key that works after the 429 of a key at its limit, which must not affect it (R25). If it gets no 200, nothing
 * shows whose limit that was.
 */
async function compareOtherKey(session: Session, limited: Attempt): Promise<ContractDifference[]> {
  const { outcome, variable } = limited;
  const latestByKey = new Map(rightful200s(session.attempts).map((success) => [success.apiKey, success]));
  latestByKey.delete(limited.apiKey);
  const other = [...latestByKey.values()].find(hasRoom);
  if (other === undefined) {
    session.notes.push(
      `R25 was not judged for ${outcome}: it needs another working key that surely has room: usage.today below per_minute and per_day.`,
    );
    return [];
  }

  for (let tries = 1; ; tries++) {
    const result = await session.sendOnce({ outcome: other.outcome, variable: other.variable });
    if (result.kind === "not_sent" || got200(result.attempt)) return [];
    const { attempt } = result;
    const found = describeAttempt(attempt);
    leaveUnjudged(attempt, `${variable} was at its limit`);
    if (attempt.response?.status === 429 && tries < mostTries) {
      await session.wait(betweenPasses);
      continue;
    }

    leaveUnjudged(limited, `a request with ${other.variable} then got ${found}`);
    if (attempt.response?.status !== 429) return [];
    const expected = `200 for ${other.variable}, although ${variable} is at its limit`;
    const seen = `${tries} of ${tries} times`;
    return [{ rules: ["R25"], outcome, at: "status", expected, found, seen }];
  }
}

/** Whether a key's minute and day surely have room, by its latest 200: a minute has no more requests than its day. */
function hasRoom({ response }: CompletedAttempt): boolean {
  const perMinute = wholeNumberIn(response, perMinutePath) ?? 0;
  const use = readDayUse(response);
  return use !== undefined && use.today < perMinute && use.today < use.perDay;
}
