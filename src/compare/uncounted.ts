import { pluralize } from "../report/plain-text.js";
import { outcomeRow } from "../rules/outcomes.js";
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
  readDate,
  retryAfterForm,
  todayPath,
  wholeNumberIn,
} from "./response.js";

type TimedRequest = AttemptRequest & Pick<Attempt, "sentAt">;

/** Returns why a response shows nothing of its outcome; `undefined` if it does. A 429 shows a limit only if it is the key's own. */
export function whyUncounted(
  request: TimedRequest,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): Uncounted | undefined {
  if (response.status === 429) return whyAnotherLimit(request, response, earlier);
  if (response.status !== 200) return undefined;
  const why = whyPermitted(request, response);
  return why === undefined ? undefined : { kind: "permitted", why };
}

/** Returns why a 200 is no difference, although the key should have been rejected. */
function whyPermitted({ outcome }: AttemptRequest, response: RedactedResponse): string | undefined {
  // Responses do not show the required scope, so there may be none.
  if (outcome === "403.insufficient_scope") return "the endpoint needs no scope, or this key has it";
  if (outcome === "429.per_minute") return "the key is not at its limit";
  if (outcome !== "429.per_day") return undefined;

  const { today, perDay } = readDay(response);
  if (today === undefined || perDay === undefined) {
    const limit = describeMember(response, perDayPath);
    return `its response has ${limit} in per_day, and ${describeMember(response, todayPath)} in usage.today`;
  }
  // Above its limit, it is a difference.
  if (today > perDay) return undefined;
  return `the key is not at its limit: ${describeDay(response)}`;
}

/** The key's requests of the day and their limit; `undefined` for what is not a whole number. */
function readDay(response: RedactedResponse) {
  const today = wholeNumberIn(response, todayPath);
  const perDay = wholeNumberIn(response, perDayPath);
  return { today, perDay };
}

function describeDay(response: RedactedResponse): string {
  return `usage.today is ${numberText(response, todayPath)} of ${numberText(response, perDayPath)}`;
}

/** Returns why a 429 is not for the key's own limit: a lock of the address, and a limiter before the API, send 429, too. */
function whyAnotherLimit(
  request: TimedRequest,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): Uncounted | undefined {
  const { outcome, apiKey, sentAt } = request;
  const ofKey = earlier.filter((attempt) => attempt.apiKey === apiKey);
  const successes = ofKey.filter(isPermitted);
  const last = successes.at(-1)?.response;
  if (last === undefined) return whyLimitedAtFirst(request, response, earlier);

  // It is the key's own if the key has used up the limit of this outcome.
  const { today, perDay } = readDay(last);
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

/** Judges the 429 of a key that has had no 200: its limits are not known. */
function whyLimitedAtFirst(
  { outcome }: AttemptRequest,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): Uncounted | undefined {
  // By its variable, the key is at its limit.
  if (isLimit({ outcome })) return undefined;
  const before = `after ${pluralize(earlier.length, "request")}`;
  const isRejected = outcomeRow(outcome).status !== 200;
  if (isRejected) return { kind: "another_limit", why: `${before}; a rejected key has no limits` };

  // An earlier comparison may have used up its minute. A comparison waits only once.
  const why = `${before}, the first one with this key`;
  const hasWaited = earlier.some(({ uncounted }) => uncounted?.kind === "used_up");
  const wait = hasWaited ? undefined : readWait(response);
  if (wait === undefined) return { kind: "another_limit", why };
  return { kind: "used_up", why, wait };
}

/** Reads from a 429 in how many milliseconds its minute is over; `undefined` if it names a later time. */
function readWait(response: RedactedResponse): number | undefined {
  const retryAfter = headerOf(response, "retry-after");
  if (retryAfter === undefined) return minute;
  const form = retryAfterForm(retryAfter);
  if (form === undefined) return undefined;

  let wait = 1000 * Number(retryAfter);
  if (form !== "seconds") wait = Date.parse(retryAfter) - readDate(response);
  return wait <= minute ? Math.max(wait, 0) : undefined;
}
