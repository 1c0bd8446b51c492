import { pluralize } from "../report/plain-text.js";
import { outcomeOf } from "../rules/outcomes.js";
import { minute } from "../rules/time.js";
import { isLimit } from "./contract.js";
import type { Attempt, CompletedAttempt } from "./judge.js";
import { describeValue, type RedactedResponse, timeOf, wholeNumberIn } from "./response.js";

// What a response shows of its outcome: a 429 shows a limit only if it is the key's own.

/** Returns why a response shows nothing about its outcome; `undefined` if it does. */
export function whyUnshown(
  request: Pick<Attempt, "outcome" | "apiKey">,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): string | undefined {
  if (response.status === 429) return whyAnotherLimit(request, response, earlier);
  if (response.status !== 200) return undefined;
  const reasons: Partial<Record<Attempt["outcome"], string | undefined>> = {
    // Responses do not show the required scope, so there may be none.
    "403.insufficient_scope": "the endpoint needs no scope, or this key has it",
    "429.per_day": whyNotAtDay(response),
    "429.per_minute": "the key is not at its limit",
  };
  return reasons[request.outcome];
}

function whyNotAtDay(response: RedactedResponse): string | undefined {
  const [today, perDay] = dayOf(response);
  if (today === undefined || perDay === undefined)
    return `its response has ${describeValue(perDay)} in per_day, and ${describeValue(today)} in usage.today`;
  return today > perDay ? undefined : `the key is not at its limit: usage.today is ${today} of ${perDay}`;
}

function dayOf(response: RedactedResponse) {
  return [
    wholeNumberIn(response, ["usage", "today"]),
    wholeNumberIn(response, ["limits", "per_day"]),
  ] as const;
}

/** A lock of the address, and a limiter before the API, respond with 429, too. */
function whyAnotherLimit(
  { outcome, apiKey }: Pick<Attempt, "outcome" | "apiKey">,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): string | undefined {
  const successes = earlier
    .filter((one): one is CompletedAttempt => one.response?.status === 200)
    .filter((one) => one.apiKey === apiKey);
  const last = successes.at(-1)?.response;
  if (last === undefined) {
    if (isLimit({ outcome })) return undefined;
    const why =
      outcomeOf(outcome).status === 401 ? "; a rejected key has no limits" : ", the first one with this key";
    return `after ${pluralize(earlier.length, "request")}${why}`;
  }
  const [today, perDay] = dayOf(last);
  const isDayUsedUp = today !== undefined && perDay !== undefined && today >= perDay;
  if (outcome === "429.per_day" && isDayUsedUp) return undefined;
  const perMinute = wholeNumberIn(last, ["limits", "per_minute"]);
  const inMinute = successes.filter((one) => !(timeOf(one.response) < timeOf(response) - minute));
  if (outcome === "429.per_minute" && perMinute !== undefined && inMinute.length >= perMinute)
    return undefined;
  const day = isDayUsedUp ? `, and usage.today is ${today} of ${perDay}` : "";
  return `after ${pluralize(successes.length, "request")} of the key; its per_minute is ${perMinute ?? "no number"}${day}`;
}
