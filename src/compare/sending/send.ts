import { outcomeRow } from "../../rules/outcomes.js";
import { plannedSuccesses } from "../contract/keys-of-outcomes.js";
import { describeMember } from "../response/describe.js";
import { headerOf } from "../response/headers.js";
import { memberIn, numberText, perDayPath, readDayUse } from "../response/members.js";
import { type RedactedResponse, shownText } from "../response/response.js";
import {
  type Attempt,
  describeAttempt,
  describeWhole,
  hasData,
  type PlannedRequest,
  requestWithoutKey,
  type SendResult,
} from "./attempt.js";
import { findWorkingKey, followLimit } from "./limited.js";
import type { Ending, Session } from "./session.js";

// One rule for surprises. A response that is not what its outcome promises, in status or form, can be a broken rule, or come
// from an outage, a lock or a gateway. So the request is sent once more. If it surprises again, two controls follow: the request
// without a key, which got the API's 401 at first, and the latest key that has worked.
//
// | sent once more | the controls get | the surprise is |
// |---|---|---|
// | as promised | | a note: nothing is judged of it |
// | a surprise | what they got before | judged: a difference of its outcome |
// | a surprise | anything else | not judged, and the comparison ends; what came before counts |
//
// A 429 is never a difference, since nobody knows who limits: see `limited.ts`.

const whyOutage = "its response may be one of an outage, a lock or a limit";

/** Sends a request, and then what its response calls for. The result is that of the latest request. */
export async function send(session: Session, request: PlannedRequest): Promise<SendResult> {
  const result = await sendWithinLimits(session, request);
  if (result.kind === "not_sent" || session.end !== undefined) return result;
  const { attempt } = result;
  if (!isSurprise(attempt, session.attempts)) return result;

  attempt.unjudged = whyOutage;
  const again = await sendWithinLimits(session, request);
  if (again.kind === "not_sent") {
    session.endAt(attempt, "outage", `${describeWhole(attempt)}; it could not be sent again`);
    return result;
  }
  if (session.end !== undefined) return again;
  if (!isSurprise(again.attempt, session.attempts)) {
    attempt.unjudged = `one of two responses was ${describeAttempt(attempt)}`;
    session.failures.push(attempt);
    return again;
  }

  await controlSurprise(session, again.attempt);
  // The controls judge both.
  if (again.attempt.unjudged !== whyOutage) attempt.unjudged = whyInDoubt(attempt);
  session.surprises.push(attempt, again.attempt);
  return again;
}

/** Sends a request, and again if its limit was waited for. */
async function sendWithinLimits(session: Session, request: PlannedRequest): Promise<SendResult> {
  const result = await session.sendOnce(request);
  if (result.kind === "not_sent" || session.end !== undefined) return result;
  const { attempt } = result;
  if (attempt.response?.status === 429) {
    const isWaitedFor = await followLimit(session, attempt);
    return isWaitedFor ? sendWithinLimits(session, request) : result;
  }
  attempt.unjudged = whyInDoubt(attempt);
  return result;
}

/**
 * Tells which requests have failed once. What failed like that twice, with controls that work, is not judged: a service that
 * fails now and then does it, too.
 */
export function tellFailures({ failures, surprises, sent }: Session): string[] {
  const kinds = new Set(failures.map(describeAttempt));
  for (const surprise of surprises) {
    if (kinds.has(describeAttempt(surprise))) {
      surprise.unjudged ??= `the service got ${describeAttempt(surprise)} in other requests only now and then`;
    }
  }

  const [first] = failures;
  if (first === undefined) return [];
  if (failures.length === 1) {
    return [`One of two responses to ${describeFailure(first)}. The other one was as promised.`];
  }
  const named = failures.map(describeFailure).join("; ");
  return [`${failures.length} of ${sent} requests failed: ${named}. Sent again, each was as promised.`];
}

function describeFailure(attempt: Attempt): string {
  const id = attempt.response && headerOf(attempt.response, "x-request-id");
  const request = id ? ` (request ${shownText(id)})` : "";
  return `${attempt.outcome} was ${describeAttempt(attempt)}${request}`;
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
function isSurprise({ outcome, response }: Attempt, attempts: readonly Attempt[]): boolean {
  // Who has sent the first response was decided before any key was sent.
  if (attempts.length === 1) return false;
  if (response === undefined) return true;
  if (hasData(response) || response.status === 429) return false;
  const { status, code } = outcomeRow(outcome);
  if (status === 401 && isLikeEarlierRejection(response, attempts)) return false;
  if (response.status !== status || memberIn(response, ["error", "code"]) !== code) return true;
  // A lock names a time to wait.
  return status === 401 && namesWait(response);
}

function namesWait(response: RedactedResponse): boolean {
  return headerOf(response, "retry-after") !== undefined;
}

/** Whether a rejection looks like an earlier one, even if that is wrong: like the first response, or a 401 after it. */
function isLikeEarlierRejection(response: RedactedResponse, attempts: readonly Attempt[]): boolean {
  const [first, ...later] = attempts.slice(0, -1);
  const rejections = later.filter(
    (attempt) => attempt.unjudged === undefined && attempt.response?.status === 401,
  );
  return [first, ...rejections].some((earlier) => isLike(response, earlier?.response));
}

/** Whether two responses have one status and one form, and both name a time to wait, or none does. */
function isLike(response: RedactedResponse, earlier: RedactedResponse | undefined): boolean {
  if (response.status !== earlier?.status) return false;
  const isJson = response.json !== undefined;
  if (isJson !== (earlier.json !== undefined)) return false;
  return namesWait(response) === namesWait(earlier);
}

/** Sends the controls. Ends the comparison without a judgment on the surprise if one of them no longer works. */
export async function controlSurprise(session: Session, surprise: Attempt): Promise<void> {
  let ending: Ending = "outage";
  let failure = await controlWithoutKey(session);
  if (failure === undefined) {
    const working = findWorkingKey(session.attempts);
    const mayBeLock = surprise.response?.status === 401 && outcomeRow(surprise.outcome).status === 200;
    if (working !== undefined) failure = await controlWorkingKey(session, working, surprise);
    else if (mayBeLock) {
      ending = "no_key";
      failure = await controlOtherKey(session, surprise);
    }
  }
  if (failure === undefined) return;
  surprise.unjudged = whyOutage;
  const advice = ending === "no_key" ? "Look at the keys, or try again later." : undefined;
  session.endAt(surprise, ending, `${describeWhole(surprise)}; ${failure}`, advice);
}

/** Sends a request without a key. Returns what it got, in words, unless that is what it got at first. */
export async function controlWithoutKey(session: Session): Promise<string | undefined> {
  const control = await session.sendOnce(requestWithoutKey);
  if (control.kind === "not_sent") return "no request without a key could follow it";
  const { attempt } = control;
  if (attempt.response && isLike(attempt.response, session.attempts[0]?.response)) return undefined;
  attempt.unjudged = whyOutage;
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
  if (attempt.response && hasData(attempt.response)) return undefined;
  attempt.unjudged = whyOutage;
  return `${variable}, which has worked, then got ${describeAttempt(attempt)}`;
}

/** As long as no key has worked, another one that should work is the control of the first one. */
async function controlOtherKey(session: Session, surprise: Attempt): Promise<string | undefined> {
  const untried = plannedSuccesses(session.options.env).filter(
    ({ variable }) => session.keyOf(variable) !== surprise.apiKey,
  );
  const [other] = untried;
  if (other === undefined) return "no given key has worked";
  const control = await session.sendOnce(other);
  if (control.kind === "not_sent") return `no request with ${other.variable} could follow it`;
  const { attempt } = control;
  if (attempt.response && hasData(attempt.response)) return undefined;
  attempt.unjudged = whyOutage;
  return `${other.variable} then got ${describeAttempt(attempt)}, and no given key has worked`;
}
