import { pluralize } from "../../report/plain-text.js";
import { outcomeRow, outcomes } from "../../rules/outcomes.js";
import { isHtml } from "../response/headers.js";
import { memberIn } from "../response/members.js";
import { type Attempt, describeAttempt } from "./attempt.js";
import type { Ending } from "./endings.js";

// An outage, or a lock of the address or of a key, is no broken rule: it ends a comparison. A response is
//   foreign      no outcome of the contract has one of its form
//   wrong        foreign, or a 403 that its outcome does not have: it could be one of an outage or a lock
//   suspicious   the second foreign one in a row, the second wrong one in a row with one status and code, or a wrong one
//                to a key that has worked
// A 401 is what rejected keys should get, so only one to a key that has worked shows a lock.

const promisedStatuses = new Set<number>(
  outcomes.filter(({ promised }) => promised).map(({ status }) => status),
);

/**
 * What the latest response shows of the service:
 * - `none`: it works
 * - `suspicious`: a request without a key must show that it still works
 * - `ended`: it is out, or has locked a key; `detail` is what to add to the latest response in words
 */
type OutageSign =
  | { readonly kind: "none" | "suspicious" }
  | { readonly kind: "ended"; readonly ending: Ending; readonly detail: string };

/** Looks for an outage in the latest of these attempts. */
export function findOutageSign(attempts: readonly Attempt[]): OutageSign {
  const latest = attempts.at(-1);
  const before = attempts.at(-2);
  if (latest?.response?.status === 503) return { kind: "ended", ending: "unavailable", detail: "" };
  if (latest === undefined || before === undefined) return { kind: "none" };
  if (isPage(latest) && isPage(before)) {
    return { kind: "ended", ending: "pages", detail: ", the second HTML page in a row" };
  }
  if (latest.response === undefined && before.response === undefined) {
    return { kind: "ended", ending: "silence", detail: ", the second time in a row" };
  }

  const hasWorked = attempts.some((one) => one.apiKey === latest.apiKey && one.response?.status === 200);
  const shouldWork = outcomeRow(latest.outcome).status === 200 && hasWorked;
  if (shouldWork && latest.response?.status === 401) {
    const rejected = attempts.filter((one) => one !== latest && one.response?.status === 401);
    const detail = `: locked after ${pluralize(rejected.length, "rejected request")}`;
    return { kind: "ended", ending: "locked", detail };
  }
  if (!isWrong(latest)) return { kind: "none" };
  if (shouldWork) return { kind: "suspicious" };
  if (isForeign(latest) && isForeign(before)) return { kind: "suspicious" };
  // 403s must be alike: otherwise, each can have a reason of its own.
  const isRepeated = isWrong(before) && describeAttempt(latest) === describeAttempt(before);
  return { kind: isRepeated ? "suspicious" : "none" };
}

function isPage({ response }: Attempt): boolean {
  return response !== undefined && isHtml(response);
}

function isWrong(attempt: Attempt): boolean {
  const { outcome, response, evidence } = attempt;
  if (isForeign(attempt)) return true;
  if (evidence.kind !== "counts" || response?.status !== 403) return false;
  const { status, code } = outcomeRow(outcome);
  return status !== 403 || memberIn(response, ["error", "code"]) !== code;
}

function isForeign({ response }: Attempt): boolean {
  if (response === undefined || isHtml(response) || !promisedStatuses.has(response.status)) return true;
  return response.status === 200 && response.json === undefined;
}

/**
 * Returns the latest attempts whose responses an outage or a lock may have sent: back to the last 200 for a lock, which
 * sends what rejected keys get; else back to the last response that can be the API's own.
 */
export function collectOutage(attempts: readonly Attempt[], ending: Ending): Attempt[] {
  if (ending === "locked") {
    const lastSuccess = attempts.findLastIndex(({ response }) => response?.status === 200);
    return attempts.slice(lastSuccess + 1);
  }

  const wrong = attempts.slice(-2).filter(isWrong);
  const descriptions = new Set(wrong.map(describeAttempt));
  const isOfOutage = (attempt: Attempt) => isForeign(attempt) || descriptions.has(describeAttempt(attempt));
  const last = attempts.findLastIndex((attempt) => !isOfOutage(attempt));
  return attempts.slice(last + 1);
}
