import { pluralize } from "../report/plain-text.js";
import { minute } from "../rules/time.js";
import { remainingIn } from "./assumptions/limit-headers.js";
import { type Findings, joinFindings, noFindings } from "./contract/findings.js";
import {
  type ContractOutcome,
  contractOutcomes,
  findKey,
  isLimit,
  textOfVariable,
} from "./contract/keys-of-outcomes.js";
import { describeMember } from "./response/describe.js";
import { perMinutePath, readDayUse, wholeNumberIn } from "./response/parts.js";
import {
  type Attempt,
  type CompletedAttempt,
  describeAttempt,
  findWorkingKey,
  got200,
  hasData,
  readKeyUse,
  rightful200s,
} from "./sending/attempt.js";
import { controlWithoutKey, send } from "./sending/send.js";
import type { Session } from "./sending/session.js";

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

export async function tryLimits(session: Session): Promise<Findings> {
  const steps: Findings[] = [];
  for (const row of contractOutcomes) if (isLimit(row.outcome)) steps.push(await tryLimit(session, row));
  return joinFindings(steps);
}

async function tryLimit(session: Session, row: ContractOutcome): Promise<Findings> {
  const { outcome } = row;
  const { env, probeLimits } = session.options;
  if (!probeLimits) {
    const ofDay = outcome === "429.per_day" ? await seeUsedUpDay(session) : undefined;
    return ofDay ?? notTried(row, "limits are only reached on purpose with --probe-limits");
  }

  // The key of the variable should be at its limit.
  const key = findKey(row, env);
  let working: Attempt | undefined;
  if (key.kind === "key") {
    const result = await send(session, { outcome, variable: key.variable });
    if (result.kind === "not_sent") return notTried(row, result.why);
    const { attempt } = result;
    if (attempt.response?.status === 429) return confirmLimit(session, attempt);
    working = attempt;
  } else if (outcome === "429.per_day") {
    return (await seeUsedUpDay(session)) ?? notTried(row, key.why);
  } else {
    const isAnySet = row.variables.some((variable) => textOfVariable(variable, env) !== "");
    // The first key that works reaches the limit, too, if no variable is set.
    if (!isAnySet) [working] = rightful200s(session.attempts);
    if (working === undefined) return notTried(row, key.why);
  }

  // A working key reaches the limit of a minute by its requests.
  if (outcome !== "429.per_minute" || !got200(working)) return noFindings;
  return useUpMinute(session, row, working);
}

/** Sends a key once more whose day the comparison has used up; `undefined` if there is none. */
async function seeUsedUpDay(session: Session): Promise<Findings | undefined> {
  const { attempts } = session;
  const limited = attempts.find(({ response, apiKey, sentAt }) => {
    return response?.status === 429 && readKeyUse(apiKey, attempts, sentAt)?.isDayUsedUp;
  });
  if (limited === undefined) return undefined;
  const result = await send(session, { outcome: "429.per_day", variable: limited.variable });
  if (result.kind === "not_sent" || result.attempt.response?.status !== 429) return undefined;
  return confirmLimit(session, result.attempt);
}

function notTried({ outcome }: ContractOutcome, why: string): Findings {
  return { ...noFindings, unjudged: [{ outcomes: [outcome], why }] };
}

/** Uses up the minute of a key that works, with requests until one gets 429. */
async function useUpMinute(
  session: Session,
  row: ContractOutcome,
  working: CompletedAttempt,
): Promise<Findings> {
  const { pace, options, end } = session;
  const { variable, apiKey, response } = working;
  if (end !== undefined) return notTried(row, end.why);
  const perMinute = wholeNumberIn(response, perMinutePath);
  if (perMinute === undefined || !Number.isSafeInteger(2 * perMinute)) {
    return notTried(row, `per_minute is ${describeMember(response, perMinutePath)}`);
  }
  if (pace * perMinute >= minute) {
    return notTried(row, `one request in ${pace / 1000} s does not reach per_minute, ${perMinute}`);
  }

  // The table above: what is needed, and what would prove that there is no limit.
  const controls = findWorkingKey(session.attempts, apiKey) === undefined ? 1 : 2;
  const needed = perMinute + 1 + controls;
  const proving = 2 * perMinute + 1;
  session.raiseDefaultMaximum(proving + controls);
  const left = session.requestsLeft;
  if (left < needed) {
    const more = controls === 1 ? "two" : "three";
    const room = `--max-requests ${session.sent + needed} has room for them`;
    return notTried(
      row,
      `needs ${needed} requests, ${more} more than per_minute, and ${left} are left; ${room}`,
    );
  }
  const most = Math.min(proving, left - controls);
  options.announce?.(
    `Sends up to ${pluralize(most, "request")} with ${variable}, until one gets 429. They use up this key's minute.`,
  );

  return sendUntilLimit(session, row, working, most);
}

/** Sends a key at most so many times. Until it has had the requests of a minute, it must work: then its outcome is the 429. */
async function sendUntilLimit(
  session: Session,
  row: ContractOutcome,
  { outcome, variable, apiKey, response }: CompletedAttempt,
  most: number,
): Promise<Findings> {
  const perMinute = wholeNumberIn(response, perMinutePath) ?? 0;
  const earlier = session.attempts.filter((attempt) => got200(attempt) && attempt.apiKey === apiKey).length;
  const successes: CompletedAttempt[] = [];
  while (successes.length < most) {
    const mustWork = earlier + successes.length < perMinute;
    const result = await send(session, { outcome: mustWork ? outcome : row.outcome, variable });
    if (result.kind === "not_sent") return notTried(row, result.why);
    const { attempt } = result;
    if (got200(attempt)) {
      successes.push(attempt);
      continue;
    }
    if (!mustWork) return attempt.response?.status === 429 ? confirmLimit(session, attempt) : noFindings;
    const why = session.end?.why ?? `${variable} did not work until its limit`;
    return joinFindings([notTried(row, why), (await seeUsedUpDay(session)) ?? noFindings]);
  }
  return judgeWithoutLimit(row, successes, perMinute);
}

/** Judges that no request got 429: it is a difference if all that prove it came in less than a minute. */
function judgeWithoutLimit(
  row: ContractOutcome,
  successes: readonly CompletedAttempt[],
  perMinute: number,
): Findings {
  const proving = 2 * perMinute + 1;
  const requests = pluralize(successes.length, "request");
  const duration = (successes.at(-1)?.receivedAt ?? 0) - (successes[0]?.sentAt ?? 0);
  if (successes.length < proving || duration >= minute) {
    const doubt = "a minute may have ended between them";
    return notTried(row, `none of ${requests} got 429, but ${doubt}; ${proving} in one would show it`);
  }

  const found = `200 for ${requests} in less than a minute; per_minute is ${perMinute}`;
  const { outcome } = row;
  return { ...noFindings, differences: [{ rules: ["R22"], outcome, at: "status", expected: "429", found }] };
}

/**
 * Confirms that the 429 of a key is its own limit:
 *
 * | without a key | with another working key | without a key, and with the other key again | the limit is |
 * |---|---|---|---|
 * | as at first | 200 | | its own |
 * | as at first | there is none that surely has room | | its own, or one of several keys: a note |
 * | as at first | a failure | as at first, and 200 | its own; the failure is a note |
 * | as at first | 429 | as at first, and 429 | one of several keys: a difference (R25), and the end |
 * | any other | | | not judged, and the end |
 */
async function confirmLimit(session: Session, limited: Attempt): Promise<Findings> {
  if (limited.whyUnjudged !== undefined) return noFindings;
  const failure = await controlWithoutKey(session);
  if (failure !== undefined) return endInDoubt(session, limited, failure);

  const other = findWorkingKey(session.attempts, limited.apiKey);
  if (other === undefined) {
    const isAnyOther = rightful200s(session.attempts).some(({ apiKey }) => apiKey !== limited.apiKey);
    const why = isAnyOther ? "each other working key is at its limit" : "it needs another working key";
    return { ...noFindings, notes: [`R25 was not judged for ${limited.outcome}: ${why}.`] };
  }
  const { outcome, variable } = other;
  const whyUnsure = whyMayBeUsedUp(other);
  if (whyUnsure !== undefined) {
    return {
      ...noFindings,
      notes: [
        `R25 was not judged for ${limited.outcome}: ${variable} may be at its own limit, because ${whyUnsure}.`,
      ],
    };
  }
  const notSent = `no request with ${variable} could follow it`;
  const control = await session.sendOnce({ outcome, variable });
  if (control.kind === "not_sent") {
    limited.whyUnjudged = notSent;
    return noFindings;
  }
  const { attempt: first } = control;
  if (hasData(first.response)) return noFindings;

  // One failure shows nothing: it must come again, after a request without a key that gets what it got before.
  const got = describeAttempt(first);
  const why = `a request with ${variable} then got ${got}`;
  first.whyUnjudged = why;
  if ((await controlWithoutKey(session)) !== undefined) return endInDoubt(session, limited, why);
  const again = await session.sendOnce({ outcome, variable });
  if (again.kind === "not_sent") {
    limited.whyUnjudged = notSent;
    return noFindings;
  }
  const { attempt: second } = again;
  if (hasData(second.response)) {
    session.addFailure(first, second);
    return noFindings;
  }
  second.whyUnjudged = why;
  limited.whyUnjudged = why;
  if (first.response?.status !== 429 || second.response?.status !== 429) {
    return endInDoubt(session, limited, why);
  }
  session.endAt(second, "shared_limit", got);
  const expected = `200 for ${variable}, although ${limited.variable} is at its limit`;
  return {
    ...noFindings,
    differences: [{ rules: ["R25"], outcome: limited.outcome, at: "status", expected, found: got }],
  };
}

/**
 * Returns why a key may have used up its own minute or day, as its latest 200 shows; `undefined` if both surely have room: all
 * its requests of the day are in no minute more than `per_minute`. The day must not be new, since the minute can be older.
 */
function whyMayBeUsedUp({ response }: CompletedAttempt): string | undefined {
  const perMinute = wholeNumberIn(response, perMinutePath);
  const day = readDayUse(response);
  if (perMinute === undefined || day === undefined) return "its limits or usage.today are no whole numbers";
  if (day.today >= perMinute) return `usage.today is ${day.today}, and per_minute is ${perMinute}`;
  if (day.today >= day.perDay) return `usage.today is ${day.today}, and per_day is ${day.perDay}`;
  if (remainingIn(response).some((remaining) => remaining < 1)) return "its limit headers leave no request";
  return undefined;
}

function endInDoubt(session: Session, limited: Attempt, why: string): Findings {
  limited.whyUnjudged = why;
  session.endAt(limited, "outage", `${describeAttempt(limited)}; ${why}`);
  return noFindings;
}
