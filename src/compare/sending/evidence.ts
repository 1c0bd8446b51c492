import { pluralize } from "../../report/plain-text.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { minute } from "../../rules/time.js";
import { describeKind } from "../response/describe.js";
import { describeMember } from "../response/describe-response.js";
import {
  memberIn,
  numberText,
  perDayPath,
  perMinutePath,
  todayPath,
  wholeNumberIn,
} from "../response/members.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import { type Attempt, type AttemptRequest, type Evidence, got200, type TimedRequest } from "./attempt.js";

const counts: Evidence = { kind: "counts" };

/** Returns what a response shows of its outcome. A 429 shows a limit only if it is the key's own. */
export function weighResponse(
  request: TimedRequest,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): Evidence {
  if (response.status === 429) return weighLimit(request, earlier);
  if (response.status === 200) return weighSuccess(request, response);
  return counts;
}

/** A 200 may be right, although the key should have been rejected. */
function weighSuccess({ outcome }: AttemptRequest, response: RedactedResponse): Evidence {
  // Responses do not show the required scope, so there may be none.
  if (outcome === "403.insufficient_scope") {
    return { kind: "may_be_right", why: "the endpoint needs no scope, or this key has it" };
  }
  if (outcome === "429.per_minute") return { kind: "may_be_right", why: "the key is not at its limit" };
  if (outcome !== "429.per_day") return counts;

  const use = readDayUse(response);
  if (use === undefined) {
    const limit = describeMember(response, perDayPath);
    const usage = describeKind(memberIn(response, todayPath));
    return { kind: "may_be_right", why: `its response has ${limit} in per_day, and ${usage} in usage.today` };
  }
  // A key above its limit should have got 429: the 200 is judged.
  if (use.today > use.perDay) return counts;
  const limit = numberText(response, perDayPath, use.perDay);
  return { kind: "may_be_right", why: `the key is not at its limit of ${limit} in a day` };
}

/** A key's requests of the day, and their limit. */
interface DayUse {
  readonly today: number;
  readonly perDay: number;
}

/** Reads the use of the day from a 200; `undefined` if one of its numbers is not there, or not a whole number. */
function readDayUse(response: RedactedResponse): DayUse | undefined {
  const today = wholeNumberIn(response, todayPath);
  const perDay = wholeNumberIn(response, perDayPath);
  if (today === undefined || perDay === undefined) return undefined;
  return { today, perDay };
}

/** A 429 may not be for the key's own limit: a lock of the address, and a limiter before the API, send 429, too. */
function weighLimit(request: TimedRequest, earlier: readonly Attempt[]): Evidence {
  const { outcome, apiKey, sentAt } = request;
  const ofKey = earlier.filter((attempt) => attempt.apiKey === apiKey);
  const successes = ofKey.filter(got200);
  const last = successes.at(-1)?.response;
  if (last === undefined) return weighLimitAtFirst(request, earlier);

  // The 429 is the key's own if the key has used up the limit of this outcome.
  const use = readDayUse(last);
  const isDayUsedUp = use !== undefined && use.today >= use.perDay;
  if (outcome === "429.per_day" && isDayUsedUp) return counts;

  const perMinute = wholeNumberIn(last, perMinutePath);
  const inMinute = successes.filter(({ receivedAt }) => receivedAt >= sentAt - minute);
  const isMinuteUsedUp = perMinute !== undefined && inMinute.length >= perMinute;
  if (outcome === "429.per_minute" && isMinuteUsedUp) return counts;

  const limit = perMinute === undefined ? "no number" : numberText(last, perMinutePath, perMinute);
  let why = `after ${pluralize(successes.length, "request")} of the key; its per_minute is ${limit}`;
  if (isDayUsedUp) why += `, and its day is used up: per_day is ${numberText(last, perDayPath, use.perDay)}`;
  return { kind: "limit_of_others", why };
}

/** Weighs the 429 to a key that has had no 200: its limits are not known. */
function weighLimitAtFirst({ outcome }: AttemptRequest, earlier: readonly Attempt[]): Evidence {
  const before = `after ${pluralize(earlier.length, "request")}`;
  switch (outcomeRow(outcome).status) {
    case 429:
      // By the name of its variable, the key is at its limit: the 429 is judged.
      return counts;
    case 200:
      // An earlier comparison may have used up the minute of the key.
      return { kind: "earlier_limit", why: `${before}, the first one with this key` };
    default:
      return { kind: "limit_of_others", why: `${before}; a rejected key has no limits` };
  }
}
