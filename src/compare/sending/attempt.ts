import { outcomeRow } from "../../rules/outcomes.js";
import { isMapping } from "../../schema/type-tag.js";
import type { PlannedRequest } from "../contract/keys-of-outcomes.js";
import { describeResponse } from "../response/describe.js";
import { headerOf, memberIn, perMinutePath, readDayUse, wholeNumberIn } from "../response/parts.js";
import { quoted, type RedactedResponse, shownText } from "../response/response.js";

/** A request without a key: no key's limit, and no lock of a key, can be the reason for its response. */
export const requestWithoutKey: PlannedRequest = { outcome: "401.missing" };

/** A request that was sent, and what came of it. */
export interface Attempt extends PlannedRequest {
  /** The key that was sent, that of the variable or one that the session has made. Never printed. */
  readonly apiKey?: string | undefined;
  /** Its number among the requests for its outcome, from 1. */
  readonly nth: number;
  /** On the comparison's own clock, in milliseconds: the server's clocks may differ. */
  readonly sentAt: number;
  readonly receivedAt: number;
  readonly response?: RedactedResponse;
  /** Why there is no response: an attempt has either this or a response. */
  readonly noResponse?: string;
  /** Why it shows nothing of its outcome; `undefined` if it is judged. The requests right after it can tell. */
  whyUnjudged?: string | undefined;
}

export type CompletedAttempt = Attempt & { readonly response: RedactedResponse };

/** What came of a request: an attempt, or why it was not sent. */
export type SendResult =
  | { readonly kind: "sent"; readonly attempt: Attempt }
  | { readonly kind: "not_sent"; readonly why: string };

/** Whether the service itself has responded: an outage, a lock or a gateway is no part of the contract. */
export function isOfTheService({ response, whyUnjudged }: Attempt): boolean {
  return whyUnjudged === undefined || (response !== undefined && hasData(response));
}

/** Whether an attempt got a 200 of the service, also with a key that should be rejected. */
export function got200(attempt: Attempt): attempt is CompletedAttempt {
  return attempt.response?.status === 200 && isOfTheService(attempt);
}

export function rightful200s(attempts: readonly Attempt[]): CompletedAttempt[] {
  return attempts.filter(got200).filter(({ outcome }) => outcomeRow(outcome).status === 200);
}

/** Whether an attempt got the status of its outcome, and its response is judged: no outage or lock may have sent it. */
export function reachedItsOutcome(attempt: Attempt): attempt is CompletedAttempt {
  const { outcome, response, whyUnjudged } = attempt;
  return response?.status === outcomeRow(outcome).status && whyUnjudged === undefined;
}

/** Whether a response has the data of a key: an outage or a lock does not send it, whoever should have got it. */
export function hasData(response: RedactedResponse | undefined): boolean {
  return response?.status === 200 && isMapping(memberIn(response, ["data"]));
}

/** What the 200s of a key show of its limits. */
export interface KeyUse {
  readonly latest: CompletedAttempt;
  readonly successes: number;
  readonly isMinuteUsedUp: boolean;
  readonly isDayUsedUp: boolean;
}

/** Reads the use of a key, whose minute has the 200s since a time; `undefined` for a key that has had no 200. */
export function readKeyUse(
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

/** Describes the response of an attempt: `401 unauthorized`. */
export function describeAttempt({ response, noResponse }: Attempt): string {
  return response === undefined ? `no response: ${noResponse}` : describeResponse(response);
}

/** The same with the words of an error, and how long to wait: what a lock says of itself. */
export function describeWhole(attempt: Attempt): string {
  const { response } = attempt;
  const words = [describeAttempt(attempt)];
  if (response === undefined) return describeAttempt(attempt);
  const message = memberIn(response, ["error", "message"]);
  if (typeof message === "string" && message !== "") words.push(quoted(message));
  const retryAfter = headerOf(response, "retry-after");
  if (retryAfter !== undefined) words.push(`(Retry-After: ${shownText(retryAfter)})`);
  return words.join(" ");
}
