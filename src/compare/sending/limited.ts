import { pluralize } from "../../report/plain-text.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import { headerOf, readDate, readHttpDate, retryAfterForm } from "../response/headers.js";
import { numberText, perDayPath, perMinutePath, readDayUse, wholeNumberIn } from "../response/members.js";
import {
  type Attempt,
  type CompletedAttempt,
  describeAttempt,
  describeWhole,
  got200,
  hasData,
  requestWithoutKey,
  rightful200s,
} from "./attempt.js";
import type { Session } from "./session.js";

// What follows a 429. The earlier requests tell whether it is the limit of its key:
//
// | 429 to a request for | with a key that has had | it is |
// |---|---|---|
// | a limit | no 200 | judged: by the name of its variable, the key is at its limit |
// | a limit | 200s that used up this limit | judged |
// | any other outcome | 200s that used up a limit | not judged: the key is at its limit, as the contract says |
// | any | anything else | not judged: nobody asked for it, and it is waited for, or ends the comparison |
//
// It is waited for once in a comparison, if it is over in a minute. A request without a key tells who limits:
//
// | without a key | limiter | then |
// |---|---|---|
// | 429 | a gateway, by the address | wait as long as this one says, and go on more slowly |
// | as at first | the key; perhaps an earlier comparison has used up its minute | wait as long as the 429 says |
// | any other | an outage | the end |

/** The least time between two requests after a gateway's 429, in milliseconds. */
const leastPace = 1000;

/** Weighs a 429, and waits for its limit or ends the comparison if nobody asked for it. Returns whether it was waited for. */
export async function followLimit(session: Session, limited: Attempt): Promise<boolean> {
  const { outcome, apiKey, sentAt } = limited;
  const use = readKeyUse(apiKey, session.attempts, sentAt - minute);
  const isForLimit = outcomeRow(outcome).status === 429;
  if (use === undefined) {
    if (isForLimit) return false;
    limited.unjudged = `after ${pluralize(session.attempts.length - 1, "request")}`;
    return waitForLimit(session, limited, outcomeRow(outcome).status === 200);
  }

  if (outcome === "429.per_day" && use.isDayUsedUp) return false;
  if (outcome === "429.per_minute" && use.isMinuteUsedUp) return false;
  limited.unjudged = describeUse(use);
  if (use.isDayUsedUp || use.isMinuteUsedUp) return false;
  return waitForLimit(session, limited, false);
}

/** Describes what came before a 429: `after 5 requests of the key; its per_minute is 60`. */
function describeUse({ latest, successes, isDayUsedUp }: KeyUse): string {
  const { response } = latest;
  const perMinute = wholeNumberIn(response, perMinutePath);
  const limit = perMinute === undefined ? "no number" : numberText(response, perMinutePath, perMinute);
  const start = `after ${pluralize(successes, "request")} of the key; its per_minute is ${limit}`;
  const day = readDayUse(response);
  if (!isDayUsedUp || day === undefined) return start;
  return `${start}, and its day is used up: per_day is ${numberText(response, perDayPath, day.perDay)}`;
}

/**
 * Waits for a limit, or ends the comparison. Returns whether it has waited. The minute of a key that has not worked yet, and
 * should, ends in a minute at most, even if its 429 does not say so.
 */
async function waitForLimit(session: Session, limited: Attempt, isFirstOfKey: boolean): Promise<boolean> {
  const namesTime = limited.response !== undefined && headerOf(limited.response, "retry-after") !== undefined;
  const wait = isFirstOfKey && !namesTime ? minute : namedWait(limited);
  const canWait = !session.hasWaited && session.options.wait !== undefined;
  // A request without a key, and then the limited one again.
  if (!canWait || wait === undefined || session.whyNotSend(2) !== undefined) return giveUp(session, limited);
  const control = await session.sendOnce(requestWithoutKey);
  if (control.kind === "not_sent") return giveUp(session, limited);

  const { attempt } = control;
  const found = `${limited.outcome} got ${describeAttempt(limited)}`;
  if (attempt.response?.status === 429) {
    attempt.unjudged = "a gateway limits this address";
    const waitOfGateway = namedWait(attempt);
    if (waitOfGateway === undefined) return giveUp(session, limited);
    session.pace = Math.max(session.pace, allowedPace(session, limited, waitOfGateway), leastPace);
    return waitOnce(
      session,
      waitOfGateway,
      `${found}, and so did a request without a key: a gateway limits this address`,
    );
  }
  if (attempt.response?.status !== session.attempts[0]?.response?.status) return giveUp(session, limited);
  // A rejected key has no minute: the limiter of the address has let the request after it through.
  if (outcomeRow(limited.outcome).status === 401) {
    session.pace = Math.max(session.pace, allowedPace(session, limited, wait), leastPace);
    return waitOnce(session, wait, `${found}: a gateway limits this address`);
  }
  return waitOnce(session, wait, `${found}: an earlier comparison may have used up the minute of its key`);
}

async function waitOnce(session: Session, milliseconds: number, found: string): Promise<boolean> {
  const { options, pace } = session;
  const seconds = Math.ceil(milliseconds / 1000);
  const isSlower = pace > (options.pace ?? 0);
  const then = isSlower ? `goes on with one request in ${pace / 1000} s` : "sends the request again";
  options.announce?.(`${found}. Waits ${seconds} s, and ${then}.`);
  session.hasWaited = true;
  await options.wait?.(milliseconds);
  // A signal can have ended the wait, and with it the comparison.
  if (session.end !== undefined) return true;
  session.notes.push(
    `${found}. The comparison waited, and ${isSlower ? "went on more slowly" : "sent it again"}.`,
  );
  return true;
}

function giveUp(session: Session, limited: Attempt): boolean {
  const slower = Math.max(2 * session.pace, leastPace) / 1000;
  const isMinute = outcomeRow(limited.outcome).status === 200;
  const earlier = isMinute ? "An earlier comparison may have used up the minute of the key. " : "";
  const got = `${describeWhole(limited)} ${limited.unjudged}`;
  session.endAt(
    limited,
    "limit",
    got,
    `${earlier}Try again ${isMinute ? "in a minute" : "later"}, or with --pace ${slower}s.`,
  );
  return false;
}

/**
 * The time between two requests that a gateway allows, in milliseconds: it has let some requests through from the first
 * request until its limit is over. After 10 requests in 5 s and a wait of 55 s, that is 6 s.
 */
function allowedPace({ attempts }: Session, limited: Attempt, wait: number): number {
  const letThrough = attempts.filter(({ response }) => response?.status !== 429);
  const firstSentAt = attempts[0]?.sentAt ?? limited.sentAt;
  const timeUntilEnd = limited.sentAt - firstSentAt + wait;
  return Math.ceil(timeUntilEnd / Math.max(letThrough.length, 1));
}

/** Reads the wait that a 429 names, in milliseconds; `undefined` if it names none, or one of more than a minute. */
function namedWait({ response }: Attempt): number | undefined {
  const retryAfter = response && headerOf(response, "retry-after");
  if (response === undefined || retryAfter === undefined) return undefined;
  const form = retryAfterForm(retryAfter);
  if (form === "invalid") return undefined;
  // A date is compared with that of the response: the clocks of the two machines may differ.
  const wait = form === "seconds" ? 1000 * Number(retryAfter) : readHttpDate(retryAfter) - readDate(response);
  return wait <= minute ? Math.max(wait, 0) : undefined;
}

interface KeyUse {
  readonly latest: CompletedAttempt;
  readonly successes: number;
  readonly isMinuteUsedUp: boolean;
  readonly isDayUsedUp: boolean;
}

/** Reads the use of a key, whose minute has the 200s since a time; `undefined` for a key that has had no 200. */
function readKeyUse(
  apiKey: string | undefined,
  attempts: readonly Attempt[],
  since: number,
): KeyUse | undefined {
  const successes = attempts.filter(got200).filter((success) => success.apiKey === apiKey);
  const latest = successes.at(-1);
  if (latest === undefined) return undefined;
  const inMinute = successes.filter(({ receivedAt }) => receivedAt >= since);
  const perMinute = wholeNumberIn(latest.response, perMinutePath);
  const day = readDayUse(latest.response);
  return {
    latest,
    successes: successes.length,
    isMinuteUsedUp: perMinute !== undefined && inMinute.length >= perMinute,
    isDayUsedUp: day !== undefined && day.today >= day.perDay,
  };
}

/** Finds the latest 200 of a key that should work, has no limit used up, and is not `exceptKey`. */
export function findWorkingKey(
  attempts: readonly Attempt[],
  exceptKey?: string,
): CompletedAttempt | undefined {
  const successes = rightful200s(attempts).filter(({ response }) => hasData(response));
  return successes.findLast(({ apiKey }) => {
    if (exceptKey !== undefined && apiKey === exceptKey) return false;
    // All its requests count: a minute of the service can begin at any time.
    const use = readKeyUse(apiKey, attempts, Number.NEGATIVE_INFINITY);
    return use !== undefined && !use.isMinuteUsedUp && !use.isDayUsedUp;
  });
}
