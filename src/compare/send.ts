import { outcomeRow } from "../rules/outcomes.js";
import { minute } from "../rules/time.js";
import { isLimit, type PlannedRequest } from "./keys.js";
import { headerOf, readDate, readDayUse, readHttpDate, retryAfterForm } from "./read-response.js";
import { type Attempt, describeAttempt, type SendResult, type Session } from "./session.js";

// What follows a 429, which is a limit:
//
// | 429 | then |
// |---|---|
// | to a request for a limit | judged |
// | to any other, the first time, if it names at most 60 s, or no time and the key should work | wait, and go on |
// | to any other | the end |
//
// After a wait, the requests come more slowly, unless no key has worked yet: then an earlier comparison may have used up its minute.

/** The least time between two requests after a 429, in milliseconds. */
const leastPace = 1000;

/** Sends a request, and again if its limit was waited for. */
export async function send(session: Session, request: PlannedRequest): Promise<SendResult> {
  const result = await session.sendOnce(request);
  if (result.kind === "not_sent" || session.end !== undefined) return result;
  const { attempt } = result;
  if (attempt.response?.status !== 429) {
    attempt.whyUnjudged = whyInDoubt(attempt);
    return result;
  }
  if (isLimit(attempt.outcome)) return result;
  attempt.whyUnjudged = "it got a 429 that was not asked for";
  const isWaitedFor = await waitForLimit(session, attempt);
  return isWaitedFor ? send(session, request) : result;
}

/** Returns why a 200 may be right, although its key should have been rejected; `undefined` for any other response. */
function whyInDoubt({ outcome, response }: Attempt): string | undefined {
  if (response?.status !== 200) return undefined;
  // Responses do not show the required scope, so there may be none.
  if (outcome === "403.insufficient_scope") return "the endpoint needs no scope, or this key has it";
  const isAboveLimit = (use: ReturnType<typeof readDayUse>) => use !== undefined && use.today > use.perDay;
  // A key above its limit should have got 429: the 200 is judged.
  if (outcome === "429.per_day" && isAboveLimit(readDayUse(response))) return undefined;
  return isLimit(outcome) ? "the key was not at its limit" : undefined;
}

/** Waits for a limit, or ends the comparison. Returns whether it has waited. */
async function waitForLimit(session: Session, limited: Attempt): Promise<boolean> {
  const { options, attempts, working, hasWaited } = session;
  const wait = readWait(limited);
  if (
    hasWaited ||
    wait === undefined ||
    wait > minute ||
    options.wait === undefined ||
    session.requestsLeft < 1
  ) {
    session.endAt(limited, "limit", adviseOnLimit(session, wait));
    return false;
  }

  session.hasWaited = true;
  let then = "sends the request again";
  if (working !== undefined) {
    session.pace = Math.max(session.pace, allowedPace(attempts, limited, wait), leastPace);
    then = `goes on with one request in ${session.pace / 1000} s`;
  }
  const found = `${limited.outcome} got ${describeAttempt(limited)}`;
  options.announce?.(`${found}. Waits ${Math.ceil(wait / 1000)} s, and ${then}.`);
  await session.wait(wait);
  // A signal can have ended the wait, and with it the comparison.
  if (session.end !== undefined) return true;
  session.notes.push(
    `${found}. The comparison waited, and ${working === undefined ? "sent it again" : "went on more slowly"}.`,
  );
  return true;
}

function adviseOnLimit({ pace }: Session, wait: number | undefined): string {
  if (wait !== undefined && wait > minute) return `Try again in ${Math.ceil(wait / 1000)} s.`;
  return `Try again later, or with --pace ${Math.max(2 * pace, leastPace) / 1000}s.`;
}

/**
 * Returns the time between two requests that a gateway allows: it has let some through from the first request until its limit is
 * over. After 10 requests in 5 s and a wait of 55 s, that is 6 s.
 */
function allowedPace(attempts: readonly Attempt[], limited: Attempt, wait: number): number {
  const letThrough = attempts.filter(({ response }) => response?.status !== 429).length;
  const firstSentAt = attempts[0]?.sentAt ?? limited.sentAt;
  return Math.ceil((limited.sentAt - firstSentAt + wait) / letThrough);
}

/** Reads the wait of a 429 in milliseconds: a minute for a key that should work, if it names none; `undefined` if nobody knows. */
function readWait({ response, outcome }: Attempt): number | undefined {
  const retryAfter = response && headerOf(response, "retry-after");
  if (response === undefined) return undefined;
  if (retryAfter === undefined) return outcomeRow(outcome).status === 200 ? minute : undefined;
  const form = retryAfterForm(retryAfter);
  if (form === "invalid") return undefined;
  if (form === "seconds") return 1000 * Number(retryAfter);
  // A date is compared with that of the response: the clocks of the two machines may differ.
  const wait = readHttpDate(retryAfter) - readDate(response);
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}
