import { minute } from "../../rules/time.js";
import { perMinutePath, readDayUse, wholeNumberIn } from "../response/members.js";
import { type Attempt, type CompletedAttempt, got200, hasData, rightful200s } from "./attempt.js";

/** Whether the limits of a key are used up, and by how many 200s. */
interface KeyUse {
  readonly successes: number;
  readonly isMinuteUsedUp: boolean;
  readonly isDayUsedUp: boolean;
}

/** Reads the use of a key by its latest 200. Its minute has the 200s since a time; by default all, since it can begin anywhere. */
function readKeyUse(
  { apiKey, response }: CompletedAttempt,
  attempts: readonly Attempt[],
  since = Number.NEGATIVE_INFINITY,
): KeyUse {
  const successes = attempts.filter(got200).filter((success) => success.apiKey === apiKey);
  const inMinute = successes.filter(({ receivedAt }) => receivedAt >= since);
  const perMinute = wholeNumberIn(response, perMinutePath);
  const day = readDayUse(response);
  return {
    successes: successes.length,
    isMinuteUsedUp: perMinute !== undefined && inMinute.length >= perMinute,
    isDayUsedUp: day !== undefined && day.today >= day.perDay,
  };
}

/** Returns the use of a key at a time; `undefined` for a key that has had no 200. */
export function findKeyUse({ apiKey, sentAt }: Attempt, attempts: readonly Attempt[]): KeyUse | undefined {
  const latest = findLatest200(apiKey, attempts);
  return latest && readKeyUse(latest, attempts, sentAt - minute);
}

export function findLatest200(
  apiKey: string | undefined,
  attempts: readonly Attempt[],
): CompletedAttempt | undefined {
  return attempts.filter(got200).findLast((success) => success.apiKey === apiKey);
}

/** Finds the latest 200 of a key that should work, has no limit used up, and is not `exceptKey`. */
export function findWorkingKey(
  attempts: readonly Attempt[],
  exceptKey?: string,
): CompletedAttempt | undefined {
  const successes = rightful200s(attempts).filter(({ response }) => hasData(response));
  return successes.findLast((success) => {
    if (exceptKey !== undefined && success.apiKey === exceptKey) return false;
    const { isMinuteUsedUp, isDayUsedUp } = readKeyUse(success, attempts);
    return !isMinuteUsedUp && !isDayUsedUp;
  });
}
