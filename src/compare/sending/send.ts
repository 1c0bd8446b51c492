import { outcomeRow } from "../../rules/outcomes.js";
import { describeMember } from "../response/describe.js";
import { memberIn, numberText, perDayPath, readDayUse } from "../response/members.js";
import type { RedactedResponse } from "../response/response.js";
import {
  type Attempt,
  describeAttempt,
  hasData,
  type PlannedRequest,
  requestWithoutKey,
  type SendResult,
} from "./attempt.js";
import { findWorkingKey, followLimit } from "./limited.js";
import type { Session } from "./session.js";

// One rule for surprises. A response that is not what its outcome promises, in status or form, can be a broken rule, or come
// from an outage, a lock or a gateway. So two controls follow it at once: the request without a key, which got the API's 401 at
// first, and the latest key that has worked.
//
// | the controls get | the surprise is |
// |---|---|
// | what they got before | judged: a difference of its outcome |
// | anything else | not judged, and the comparison ends; what came before counts |
//
// A 429 is never a difference, since nobody knows who limits: see `limited.ts`.

const whyOutage = "its response may be one of an outage, a lock or a limit";

/** Sends a request, and then what its response calls for. If a limit was waited for, the result is that of the later request. */
export async function send(session: Session, request: PlannedRequest): Promise<SendResult> {
  const result = await session.sendOnce(request);
  if (result.kind === "not_sent" || session.end !== undefined) return result;

  const { attempt } = result;
  if (attempt.response?.status === 429) {
    const isWaitedFor = await followLimit(session, attempt);
    return isWaitedFor ? send(session, request) : result;
  }

  attempt.unjudged = whyInDoubt(attempt);
  if (isSurprise(attempt, session.attempts)) await controlSurprise(session, attempt);
  return result;
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
  if (hasData(response)) return false;
  const { status, code } = outcomeRow(outcome);
  if (status === 401 && isLikeEarlierRejection(response, attempts)) return false;
  return response.status !== status || memberIn(response, ["error", "code"]) !== code;
}

/** Whether a rejection looks like an earlier one, even if that is wrong: like the first response, or a 401 after it. */
function isLikeEarlierRejection(response: RedactedResponse, attempts: readonly Attempt[]): boolean {
  const [first, ...later] = attempts.slice(0, -1);
  const rejections = later.filter(
    (attempt) => attempt.unjudged === undefined && attempt.response?.status === 401,
  );
  return [first, ...rejections].some((earlier) => isLike(response, earlier?.response));
}

function isLike(response: RedactedResponse, earlier: RedactedResponse | undefined): boolean {
  if (response.status !== earlier?.status) return false;
  const isJson = response.json !== undefined;
  return isJson === (earlier.json !== undefined);
}

/** Sends the controls. Ends the comparison without a judgment on the surprise if one of them no longer works. */
export async function controlSurprise(session: Session, surprise: Attempt): Promise<void> {
  const failure = (await controlWithoutKey(session)) ?? (await controlWorkingKey(session));
  if (failure === undefined) return;
  surprise.unjudged = whyOutage;
  session.endAt(surprise, "outage", `${describeAttempt(surprise)}; ${failure}`);
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
async function controlWorkingKey(session: Session): Promise<string | undefined> {
  const working = findWorkingKey(session.attempts);
  if (working === undefined) return undefined;
  const { outcome, variable } = working;
  const control = await session.sendOnce({ outcome, variable });
  if (control.kind === "not_sent") return `no request with ${variable} could follow it`;
  const { attempt } = control;
  if (attempt.response && hasData(attempt.response)) return undefined;
  attempt.unjudged = whyOutage;
  return `${variable}, which has worked, then got ${describeAttempt(attempt)}`;
}
