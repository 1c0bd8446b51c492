import { outcomeOf, outcomes } from "../rules/outcomes.js";
import { type Attempt, describeAttempt } from "./attempt.js";
import { isHtml, memberIn } from "./response.js";

// An outage, or a lock of the address or of a key, is no broken rule: it ends a comparison.

/** What the latest response shows that ends the comparison at once; `undefined` if it does not end it. */
export function endingDetail(attempts: readonly Attempt[]): string | undefined {
  const latest = attempts.at(-1);
  const before = attempts.at(-2);
  if (latest?.response?.status === 503) return "";
  if (latest === undefined || before === undefined) return undefined;
  if (isPage(latest) && isPage(before)) return ", the second HTML page in a row";
  if (latest.response === undefined && before.response === undefined) return ", the second time in a row";
  return undefined;
}

function isPage({ response }: Attempt): boolean {
  return response !== undefined && isHtml(response);
}

/**
 * Whether a request without a key must show that the service still works: after two wrong responses in a row, or if a
 * working key no longer works.
 */
export function isSuspicious(attempts: readonly Attempt[]): boolean {
  const latest = attempts.at(-1);
  const before = attempts.at(-2);
  if (latest === undefined || before === undefined || !isWrong(latest)) return false;
  const hasWorked = attempts.some((one) => one.apiKey === latest.apiKey && one.response?.status === 200);
  if (outcomeOf(latest.outcome).status === 200 && hasWorked) return true;
  if (isForeign(latest) && isForeign(before)) return true;
  return isWrong(before) && describeAttempt(latest) === describeAttempt(before);
}

/** Whether a response could be one of an outage or a lock. Nobody can tell a lock by 401 from rejected keys. */
function isWrong(attempt: Attempt): boolean {
  const { outcome, response, uncounted } = attempt;
  if (isForeign(attempt)) return true;
  if (uncounted !== undefined || response?.status !== 403) return false;
  const { status, code } = outcomeOf(outcome);
  return status !== 403 || memberIn(response, ["error", "code"]) !== code;
}

const statuses = new Set<number>(outcomes.filter(({ promised }) => promised).map(({ status }) => status));

/** Whether no outcome of the contract has such a response. */
function isForeign({ response }: Attempt): boolean {
  if (response === undefined || isHtml(response) || !statuses.has(response.status)) return true;
  return response.status === 200 && response.json === undefined;
}

/** The latest attempts, back to the last one whose response can be the API's own. */
export function outageIn(attempts: readonly Attempt[]): Attempt[] {
  const last = attempts.slice(-2);
  const descriptions = new Set(last.filter(isWrong).map(describeAttempt));
  const isOfOutage = (attempt: Attempt) => isForeign(attempt) || descriptions.has(describeAttempt(attempt));
  const start = attempts.findLastIndex((attempt) => !isOfOutage(attempt));
  return attempts.slice(start + 1);
}
