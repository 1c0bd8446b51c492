import { pluralize } from "../../report/plain-text.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import { type PlannedRequest, plannedSuccesses } from "../contract/keys-of-outcomes.js";
import { describeMember } from "../response/describe.js";
import {
  headerOf,
  memberIn,
  numberText,
  perDayPath,
  perMinutePath,
  readDate,
  readDayUse,
  readHttpDate,
  retryAfterForm,
  wholeNumberIn,
} from "../response/parts.js";
import { type RedactedResponse, shownText } from "../response/response.js";
import {
  type Attempt,
  describeAttempt,
  describeWhole,
  findWorkingKey,
  hasData,
  type KeyUse,
  readKeyUse,
  requestWithoutKey,
  type SendResult,
} from "./attempt.js";
import type { Session } from "./session.js";

// What follows a response. One rule is for surprises, which are not what their outcome promises, in status or form: a broken
// rule, or an outage, a lock or a gateway. The request is sent once more. Then two controls follow: the request without a key,
// which got the API's 401 at first, and the latest key that has worked. Then the request is sent a third time.
//
// | second | controls | third | the surprise is |
// |---|---|---|---|
// | as promised | | | a note: nothing is judged of it |
// | a surprise | not what they got before | | not judged, and the comparison ends; what came before counts |
// | a surprise | what they got before | the second one again | judged: a difference of its outcome |
// | a surprise | what they got before | anything else | a note |
//
// A service that fails now and then can do it three times. So before it is judged, `confirmSurprises` sends it again, later.
//
// A 429 is never a difference, since nobody knows who limits. The earlier requests tell whether it is the limit of its key:
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

const whyOutage = "its response may be one of an outage, a lock or a limit";
const whyAnotherEachTime = "the service responds to it in another way each time";

/** So many responses of one kind are no chance, even if half of all requests fail. */
const leastOfKind = 12;

/** The least time between two requests after a gateway's 429, in milliseconds. */
const leastPace = 1000;

/** Sends a request, and then what its response calls for. The result is that of the latest request. */
export async function send(session: Session, request: PlannedRequest): Promise<SendResult> {
  const first = await sendWithinLimits(session, request);
  if (first.kind === "not_sent" || !isSurprise(first.attempt, session)) return first;
  first.attempt.whyUnjudged = whyOutage;

  const second = await sendWithinLimits(session, request);
  if (second.kind === "not_sent") return endUnsent(session, first);
  if (session.end !== undefined) return second;
  if (!isSurprise(second.attempt, session)) {
    session.addFailure(first.attempt, second.attempt);
    return second;
  }

  await controlSurprise(session, second.attempt);
  if (session.end !== undefined) return second;
  second.attempt.whyUnjudged = whyOutage;

  const third = await sendWithinLimits(session, request);
  if (third.kind === "not_sent") return endUnsent(session, second);
  if (session.end !== undefined) return third;
  const isPromised = !isSurprise(third.attempt, session);
  if (!isPromised && describeAttempt(third.attempt) === describeAttempt(second.attempt)) {
    for (const { attempt } of [first, second]) attempt.whyUnjudged = whyInDoubt(attempt);
    session.surprises.push(first.attempt, second.attempt, third.attempt);
    return third;
  }
  for (const { attempt } of [first, second]) session.addFailure(attempt, third.attempt);
  if (!isPromised) third.attempt.whyUnjudged = whyAnotherEachTime;
  return third;
}

function endUnsent(session: Session, result: SendResult & { kind: "sent" }): SendResult {
  const { attempt } = result;
  session.endAt(attempt, "outage", `${describeWhole(attempt)}; it could not be sent again`);
  return result;
}

/** Sends surprises again, in turn, until there are enough of each kind. Anything else in place of one shows a failure. */
export async function confirmSurprises(session: Session): Promise<void> {
  const surprisesByKind = new Map<string, Attempt[]>();
  for (const surprise of session.surprises) {
    const kind = kindOfFailure(surprise);
    surprisesByKind.set(kind, [...(surprisesByKind.get(kind) ?? []), surprise]);
  }

  for (const [kind, surprises] of surprisesByKind) {
    // The request of each outcome comes again after those of the others of its kind.
    const latestByOutcome = new Map(surprises.map((surprise) => [surprise.outcome, surprise]));
    const lastOfEach = [...latestByOutcome.values()];
    for (let count = surprises.length; count < leastOfKind; count++) {
      const surprise = lastOfEach[count % lastOfEach.length];
      if (surprise === undefined) break;
      const result = await sendWithinLimits(session, surprise);
      if (result.kind === "not_sent" || session.end !== undefined) return;
      const { attempt } = result;
      if (kindOfFailure(attempt) === kind && !hasData(attempt.response)) {
        session.surprises.push(attempt);
        continue;
      }
      session.addFailure(surprise, attempt);
      if (isSurprise(attempt, session)) attempt.whyUnjudged = whyAnotherEachTime;
      break;
    }
  }
}

/**
 * Tells which requests have failed now and then. What failed like that each time, with controls that work, is not judged: a
 * service that fails now and then does it, too.
 */
export function tellFailures({ failures, surprises, sent, end }: Session): string[] {
  const kinds = new Set(failures.map(kindOfFailure));
  // What has ended the comparison was no fault of one outcome, either.
  if (end?.attempt !== undefined) kinds.add(kindOfFailure(end.attempt));
  for (const surprise of surprises) {
    if (kinds.has(kindOfFailure(surprise))) {
      surprise.whyUnjudged ??= `its response was ${describeAttempt(surprise)}, and the service fails like this now and then`;
    }
  }

  if (failures.length === 0) return [];
  const named: string[] = [];
  for (const failed of failures) {
    const id = failed.response && headerOf(failed.response, "x-request-id");
    const request = id ? ` (request ${shownText(id)})` : "";
    named.push(`${failed.outcome} was ${describeAttempt(failed)}${request}`);
  }
  if (named.length === 1) return [`One of two responses to ${named[0]}. The other one was as promised.`];
  return [`${named.length} of ${sent} requests failed, but not each time: ${named.join("; ")}.`];
}

/** Failures of a server or a gateway are of one kind: one that fails now and then does it in several ways. */
function kindOfFailure(attempt: Attempt): string {
  const { response } = attempt;
  const isOfServer = response === undefined || response.status >= 500;
  const isRedirect = response !== undefined && response.status >= 300 && response.status < 400;
  return isOfServer || isRedirect ? "outage" : describeAttempt(attempt);
}

/** Returns why a 200 may be right, although its key should have been rejected; `undefined` for any other response. */
function whyInDoubt({ outcome, response }: Attempt): string | undefined {
  if (response?.status !== 200) return undefined;
  // Responses do not show the required scope, so there may be none.
  if (outcome === "403.insufficient_scope") return "the endpoint needs no scope, or this key has it";
  if (outcome === "429.per_minute") return "the key was not at its limit";
  if (outcome !== "429.per_day") return undefined;

  const use = readDayUse(response);
  if (use === undefined) {
    return `its response has ${describeMember(response, perDayPath)} in per_day, or no number in usage.today`;
  }
  // A key above its limit should have got 429: the 200 is judged.
  if (use.today > use.perDay) return undefined;
  return `the key was not at its limit of ${numberText(response, perDayPath, use.perDay)} in a day`;
}

/** Whether the latest response is not what its outcome promises, in status and form. Its content is judged later. */
function isSurprise({ outcome, response }: Attempt, { attempts, end }: Session): boolean {
  // Who has sent the first response was decided before any key was sent.
  if (end !== undefined || attempts.length === 1) return false;
  if (response === undefined) return true;
  if (hasData(response) || response.status === 429) return false;
  const { status, code } = outcomeRow(outcome);
  if (status === 401 && isLikeEarlierRejection(response, attempts)) return false;
  if (response.status !== status || errorCodeOf(response) !== code) return true;
  // A lock names a time to wait.
  return status === 401 && headerOf(response, "retry-after") !== undefined;
}

function errorCodeOf(response: RedactedResponse): unknown {
  return memberIn(response, ["error", "code"]);
}

/** Whether a rejection looks like an earlier one, even if that is wrong: like the first response, or a judged 401 after it. */
function isLikeEarlierRejection(response: RedactedResponse, attempts: readonly Attempt[]): boolean {
  const [first, ...later] = attempts.slice(0, -1);
  const rejections = later.filter(
    (attempt) => attempt.whyUnjudged === undefined && attempt.response?.status === 401,
  );
  return [first, ...rejections].some((earlier) => isLike(response, earlier?.response));
}

/** Whether two responses have one status, one form and one code, and both name a time to wait, or none does. */
function isLike(response: RedactedResponse | undefined, earlier: RedactedResponse | undefined): boolean {
  if (response === undefined || response.status !== earlier?.status) return false;
  const isJson = response.json !== undefined;
  if (isJson !== (earlier.json !== undefined) || errorCodeOf(response) !== errorCodeOf(earlier)) return false;
  const namesWait = headerOf(response, "retry-after") !== undefined;
  return namesWait === (headerOf(earlier, "retry-after") !== undefined);
}

/** Sends the controls. Ends the comparison without a judgment on the surprise if one of them no longer works. */
export async function controlSurprise(session: Session, surprise: Attempt): Promise<void> {
  const working = findWorkingKey(session.attempts);
  // As long as no key has worked, a 401 to one that should work has a suspicion of its own.
  const is401OfKey = surprise.response?.status === 401 && outcomeRow(surprise.outcome).status === 200;
  const isNoKey = working === undefined && is401OfKey;

  let failure = await controlWithoutKey(session);
  if (failure === undefined && working !== undefined) {
    failure = await controlWorkingKey(session, working, surprise);
  } else if (failure === undefined && isNoKey) failure = await controlOtherKey(session, surprise);
  if (failure === undefined) return;

  surprise.whyUnjudged = whyOutage;
  const advice = isNoKey ? "Look at the keys, or try again later." : undefined;
  session.endAt(surprise, isNoKey ? "no_key" : "outage", `${describeWhole(surprise)}; ${failure}`, advice);
}

/** Sends a request without a key. Returns what it got, in words, unless that is what it got at first. */
export async function controlWithoutKey(session: Session): Promise<string | undefined> {
  const control = await session.sendOnce(requestWithoutKey);
  if (control.kind === "not_sent") return "no request without a key could follow it";
  const { attempt } = control;
  if (isLike(attempt.response, session.attempts[0]?.response)) return undefined;
  attempt.whyUnjudged = whyOutage;
  return `a request without a key then got ${describeAttempt(attempt)}`;
}

/** The same with the latest key that has worked, and that must still work. */
async function controlWorkingKey(
  session: Session,
  { outcome, variable, apiKey }: Attempt,
  surprise: Attempt,
): Promise<string | undefined> {
  // It was just sent twice.
  if (apiKey === surprise.apiKey) return `${variable} has worked before`;
  const control = await session.sendOnce({ outcome, variable });
  if (control.kind === "not_sent") return `no request with ${variable} could follow it`;
  const { attempt } = control;
  if (hasData(attempt.response)) return undefined;
  attempt.whyUnjudged = whyOutage;
  return `${variable}, which has worked, then got ${describeAttempt(attempt)}`;
}

/** As long as no key has worked, another one that should work is the control of the first one. */
async function controlOtherKey(session: Session, surprise: Attempt): Promise<string | undefined> {
  const other = plannedSuccesses(session.options.env).find(
    ({ variable }) => session.keyOf(variable) !== surprise.apiKey,
  );
  if (other === undefined) return "no given key has worked";
  const control = await session.sendOnce(other);
  if (control.kind === "not_sent") return `no request with ${other.variable} could follow it`;
  const { attempt } = control;
  if (hasData(attempt.response)) return undefined;
  attempt.whyUnjudged = whyOutage;
  return `${other.variable} then got ${describeAttempt(attempt)}, and no given key has worked`;
}

/** Sends a request, and again if its limit was waited for. */
async function sendWithinLimits(session: Session, request: PlannedRequest): Promise<SendResult> {
  const result = await session.sendOnce(request);
  if (result.kind === "not_sent" || session.end !== undefined) return result;
  const { attempt } = result;
  if (attempt.response?.status !== 429) {
    attempt.whyUnjudged = whyInDoubt(attempt);
    return result;
  }

  // The second table.
  const { outcome, apiKey, sentAt } = attempt;
  const use = readKeyUse(apiKey, session.attempts, sentAt - minute);
  const isLimit = outcomeRow(outcome).status === 429;
  if (isLimit && use === undefined) return result;
  if (outcome === "429.per_day" && use?.isDayUsedUp) return result;
  if (outcome === "429.per_minute" && use?.isMinuteUsedUp) return result;
  attempt.whyUnjudged =
    use === undefined ? `after ${pluralize(session.attempts.length - 1, "request")}` : describeUse(use);
  if (use?.isDayUsedUp || use?.isMinuteUsedUp) return result;

  const isWaitedFor = await waitForLimit(session, attempt, use === undefined);
  return isWaitedFor ? sendWithinLimits(session, request) : result;
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

/** Waits for a limit, as the third table shows, or ends the comparison. Returns whether it has waited. */
async function waitForLimit(session: Session, limited: Attempt, isFirstOfKey: boolean): Promise<boolean> {
  const { status } = outcomeRow(limited.outcome);
  const namesTime = limited.response !== undefined && headerOf(limited.response, "retry-after") !== undefined;
  // The minute of a key that has not worked yet, and should, ends in a minute at most, even if its 429 does not say so.
  const wait = isFirstOfKey && status === 200 && !namesTime ? minute : namedWait(limited);
  const canWait = !session.hasWaited && session.options.wait !== undefined;
  // A request without a key, and then the limited one again.
  if (!canWait || wait === undefined || session.whyNotSend(2) !== undefined) return giveUp(session, limited);
  const control = await session.sendOnce(requestWithoutKey);
  if (control.kind === "not_sent") return giveUp(session, limited);

  const { attempt } = control;
  const found = `${limited.outcome} got ${describeAttempt(limited)}`;
  if (attempt.response?.status === 429) {
    attempt.whyUnjudged = "a gateway limits this address";
    const waitOfGateway = namedWait(attempt);
    if (waitOfGateway === undefined) return giveUp(session, limited);
    const why = `${found}, and so did a request without a key: a gateway limits this address`;
    return waitMoreSlowly(session, limited, waitOfGateway, why);
  }
  if (!isLike(attempt.response, session.attempts[0]?.response)) {
    attempt.whyUnjudged = whyOutage;
    return giveUp(session, limited);
  }
  // A rejected key has no minute: the limiter of the address has let the request after it through.
  if (status === 401) {
    return waitMoreSlowly(session, limited, wait, `${found}: a gateway limits this address`);
  }
  return waitOnce(session, wait, `${found}: an earlier comparison may have used up the minute of its key`);
}

/**
 * Waits for a gateway, and sets the time between two requests that it allows: it has let some requests through from the first
 * request until its limit is over. After 10 requests in 5 s and a wait of 55 s, that is 6 s.
 */
function waitMoreSlowly(session: Session, limited: Attempt, wait: number, found: string): Promise<boolean> {
  const { attempts } = session;
  const letThrough = attempts.filter(({ response }) => response?.status !== 429);
  const firstSentAt = attempts[0]?.sentAt ?? limited.sentAt;
  const timeUntilEnd = limited.sentAt - firstSentAt + wait;
  const allowedPace = Math.ceil(timeUntilEnd / Math.max(letThrough.length, 1));
  session.pace = Math.max(session.pace, allowedPace, leastPace);
  return waitOnce(session, wait, found);
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
  const isMinute = outcomeRow(limited.outcome).status === 200;
  // A key that has waited once gets its next request after the wait that its limiter names.
  const wait = isMinute && session.hasWaited ? (namedWait(limited) ?? 0) : 0;
  const slower = Math.max(2 * session.pace, leastPace, wait) / 1000;
  const earlier = isMinute ? "An earlier comparison may have used up the minute of the key. " : "";
  const got = `${describeWhole(limited)} ${limited.whyUnjudged}`;
  const advice = `${earlier}Try again ${isMinute ? "in a minute" : "later"}, or with --pace ${slower}s.`;
  session.endAt(limited, "limit", got, advice);
  return false;
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
