import { pluralize } from "../report/plain-text.js";
import { outcomeOf } from "../rules/outcomes.js";
import { minute } from "../rules/time.js";
import { type Attempt, type AttemptRequest, isPermitted, type Uncounted } from "./attempt.js";
import { isLimit } from "./keys-of-outcomes.js";
import {
  describeMember,
  headerOf,
  numberText,
  perDayPath,
  perMinutePath,
  type RedactedResponse,
  retryAfterForm,
  timeOf,
  todayPath,
  wholeNumberIn,
} from "./response.js";

type SentRequest = AttemptRequest & Pick<Attempt, "sentAt">;

/** Returns why a response shows nothing of its outcome; `undefined` if it does. A 429 shows a limit only if it is the key's own. */
export function whyUncounted(
  request: SentRequest,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): Uncounted | undefined {
  if (response.status === 429) return whyAnotherLimit(request, response, earlier);
  if (response.status !== 200) return undefined;
  const reasons: Partial<Record<Attempt["outcome"], string | undefined>> = {
    // Responses do not show the required scope, so there may be none.
    "403.insufficient_scope": "the endpoint needs no scope, or this key has it",
    "429.per_day": whyNotAtDay(response),
    "429.per_minute": "the key is not at its limit",
  };
  const why = reasons[request.outcome];
  return why === undefined ? undefined : { kind: "permitted", why };
}

function whyNotAtDay(response: RedactedResponse): string | undefined {
  const { today, perDay } = dayOf(response);
  if (today === undefined || perDay === undefined)
    return `its response has ${describeMember(response, perDayPath)} in per_day, and ${describeMember(response, todayPath)} in usage.today`;
  // Then it is a difference: the key should have been rejected.
  if (today > perDay) return undefined;
  return `the key is not at its limit: ${describeDay(response)}`;
}

function dayOf(response: RedactedResponse) {
  const today = wholeNumberIn(response, todayPath);
  const perDay = wholeNumberIn(response, perDayPath);
  return { today, perDay };
}

function describeDay(response: RedactedResponse): string {
  return `usage.today is ${numberText(response, todayPath)} of ${numberText(response, perDayPath)}`;
}

/** A lock of the address, and a limiter before the API, respond with 429, too. */
function whyAnotherLimit(
  request: SentRequest,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): Uncounted | undefined {
  const { outcome, apiKey, sentAt } = request;
  const ofKey = earlier.filter((attempt) => attempt.apiKey === apiKey);
  const successes = ofKey.filter(isPermitted);
  const last = successes.at(-1)?.response;
  if (last === undefined) return whyLimitedAtFirst(request, response, earlier);

  const { today, perDay } = dayOf(last);
  const isDayUsedUp = today !== undefined && perDay !== undefined && today >= perDay;
  if (outcome === "429.per_day" && isDayUsedUp) return undefined;

  const perMinute = wholeNumberIn(last, perMinutePath);
  const inMinute = successes.filter(({ receivedAt }) => receivedAt >= sentAt - minute);
  const isMinuteUsedUp = perMinute !== undefined && inMinute.length >= perMinute;
  if (outcome === "429.per_minute" && isMinuteUsedUp) return undefined;

  const limit = perMinute === undefined ? "no number" : numberText(last, perMinutePath);
  let why = `after ${pluralize(successes.length, "request")} of the key; its per_minute is ${limit}`;
  if (isDayUsedUp) why += `, and ${describeDay(last)}`;
  return { kind: "another_limit", why };
}

/** A key that had no 200 has a limit by its variable, or an earlier comparison has used up its minute. */
function whyLimitedAtFirst(
  { outcome }: AttemptRequest,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): Uncounted | undefined {
  if (isLimit({ outcome })) return undefined;
  const before = `after ${pluralize(earlier.length, "request")}`;
  const isRejected = outcomeOf(outcome).status !== 200;
  if (isRejected) return { kind: "another_limit", why: `${before}; a rejected key has no limits` };

  // A comparison waits only once.
  const why = `${before}, the first one with this key`;
  const hasWaited = earlier.some(({ uncounted }) => uncounted?.kind === "used_up");
  const wait = hasWaited ? undefined : waitOf(response);
  if (wait === undefined) return { kind: "another_limit", why };
  return { kind: "used_up", why, wait };
}

/** The milliseconds until a minute is over; `undefined` if its response names a later time. */
function waitOf(response: RedactedResponse): number | undefined {
  const retryAfter = headerOf(response, "retry-after");
  if (retryAfter === undefined) return minute;
  const form = retryAfterForm(retryAfter);
  if (form === undefined) return undefined;

  let wait = 1000 * Number(retryAfter);
  if (form !== "seconds") wait = Date.parse(retryAfter) - timeOf(response);
  return wait <= minute ? Math.max(wait, 0) : undefined;
}
