import { type Attempt, describeAttempt } from "./attempt.js";
import { responseForm } from "./response-form.js";

// An outage, or a lock, is noticed only some requests after it has begun. These functions get all attempts until then: at the
// last attempt, it was noticed. They return the attempts since it may have begun.

/** The attempts after the last 200: a lock sends what rejected keys get, so it may have sent each of their responses. */
export function attemptsSinceLock(attempts: readonly Attempt[]): Attempt[] {
  const lastSuccess = attempts.findLastIndex(({ response }) => response?.status === 200);
  return attempts.slice(lastSuccess + 1);
}

/**
 * The attempts after the last response that is surely the API's. The last two responses are those of the outage. So an earlier
 * response in their words may be one of the outage, although it looks like the API's: `403 access_denied`, and ten requests
 * later again.
 */
export function attemptsSinceOutage(attempts: readonly Attempt[]): Attempt[] {
  const wordsOfOutage = new Set<string>();
  for (const attempt of attempts.slice(-2)) {
    if (responseForm(attempt) !== "of_the_contract") wordsOfOutage.add(describeAttempt(attempt));
  }

  const lastOfApi = attempts.findLastIndex((attempt) => {
    return responseForm(attempt) !== "foreign" && !wordsOfOutage.has(describeAttempt(attempt));
  });
  return attempts.slice(lastOfApi + 1);
}
