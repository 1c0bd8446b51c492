import { type Attempt, describeAttempt } from "./attempt.js";
import { responseForm } from "./response-form.js";

// An outage, or a lock, is noticed only some requests after it has begun. These functions get the attempts until it was noticed,
// and return those since it may have begun.

/** The attempts after the last 200: a lock sends what rejected keys get, so it may have sent each of their responses. */
export function attemptsSinceLock(attempts: readonly Attempt[]): Attempt[] {
  const lastSuccess = attempts.findLastIndex(({ response }) => response?.status === 200);
  return attempts.slice(lastSuccess + 1);
}

/** The attempts after the last response that cannot be the outage's. */
export function attemptsSinceOutage(attempts: readonly Attempt[]): Attempt[] {
  const wordsOfOutage = readWordsOfOutage(attempts);
  const lastUnlike = attempts.findLastIndex((attempt) => isUnlikeOutage(attempt, wordsOfOutage));
  return attempts.slice(lastUnlike + 1);
}

/** An outage is noticed at the last two responses: those that are not of the contract are its responses. */
function readWordsOfOutage(attempts: readonly Attempt[]): ReadonlySet<string> {
  const words = new Set<string>();
  for (const attempt of attempts.slice(-2)) {
    if (responseForm(attempt) !== "of_the_contract") words.add(describeAttempt(attempt));
  }
  return words;
}

/**
 * Whether an outage cannot have sent a response. A doubtful 403 counts as the API's, unless the outage responds in the same
 * words: `403 access_denied`, and ten requests later again.
 */
function isUnlikeOutage(attempt: Attempt, wordsOfOutage: ReadonlySet<string>): boolean {
  if (responseForm(attempt) === "foreign") return false;
  return !wordsOfOutage.has(describeAttempt(attempt));
}
