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
  const descriptionsOfOutage = readDescriptionsOfOutage(attempts);
  const lastOfApi = attempts.findLastIndex((attempt) => !mayBeOfOutage(attempt, descriptionsOfOutage));
  return attempts.slice(lastOfApi + 1);
}

/**
 * Describes the outage's responses. The last two attempts have noticed it: two bad responses in a row, or a bad
 * one and its control. Those of the two that are not of the contract are the outage's.
 */
function readDescriptionsOfOutage(attempts: readonly Attempt[]): ReadonlySet<string> {
  const descriptions = new Set<string>();
  for (const attempt of attempts.slice(-2)) {
    if (responseForm(attempt) !== "of_the_contract") descriptions.add(describeAttempt(attempt));
  }
  return descriptions;
}

/** Whether an outage may have sent a response: one in a foreign form, or described like the outage's, such as an undocumented 403. */
function mayBeOfOutage(attempt: Attempt, descriptionsOfOutage: ReadonlySet<string>): boolean {
  if (responseForm(attempt) === "foreign") return true;
  return descriptionsOfOutage.has(describeAttempt(attempt));
}
