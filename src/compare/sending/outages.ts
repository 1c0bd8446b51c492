import { pluralize } from "../../report/plain-text.js";
import { outcomeRow, outcomes } from "../../rules/outcomes.js";
import { isHtml } from "../response/headers.js";
import { memberIn } from "../response/members.js";
import { type Attempt, describeAttempt } from "./attempt.js";
import type { Ending } from "./endings.js";

// An outage, or a lock of the address or of a key, is no broken rule: it ends a comparison. A 401 is what rejected keys should
// get, so only a 401 to a key that has worked shows a lock. Other responses have one of three forms.

/**
 * - `foreign`: no outcome of the contract has a response of this form
 * - `another_403`: a 403 that its outcome does not have; a lock could send it
 * - `of_the_contract`: neither
 */
type ResponseForm = "foreign" | "another_403" | "of_the_contract";

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
  if (latest === undefined) return { kind: "none" };
  if (latest.response?.status === 503) return { kind: "ended", ending: "unavailable", detail: "" };

  const before = attempts.at(-2);
  if (before === undefined) return { kind: "none" };
  if (isPage(latest) && isPage(before)) {
    return { kind: "ended", ending: "pages", detail: ", the second HTML page in a row" };
  }
  if (latest.response === undefined && before.response === undefined) {
    return { kind: "ended", ending: "silence", detail: ", the second time in a row" };
  }

  const isOfWorkingKey = hasWorkingKey(latest, attempts);
  if (isOfWorkingKey && latest.response?.status === 401) {
    const rejected = attempts.slice(0, -1).filter(({ response }) => response?.status === 401);
    const detail = `: locked after ${pluralize(rejected.length, "rejected request")}`;
    return { kind: "ended", ending: "locked", detail };
  }
  return { kind: isSuspicious(latest, before, isOfWorkingKey) ? "suspicious" : "none" };
}

/** Whether the key of an attempt must get a 200, and has got one before. */
function hasWorkingKey({ outcome, apiKey }: Attempt, attempts: readonly Attempt[]): boolean {
  if (outcomeRow(outcome).status !== 200) return false;
  return attempts.some((attempt) => attempt.apiKey === apiKey && attempt.response?.status === 200);
}

/** Whether an outage or a lock may have sent the latest response. */
function isSuspicious(latest: Attempt, before: Attempt, isOfWorkingKey: boolean): boolean {
  const form = responseForm(latest);
  const formBefore = responseForm(before);
  if (form === "of_the_contract") return false;
  // A key that has worked should get 200.
  if (isOfWorkingKey) return true;
  if (form === "foreign" && formBefore === "foreign") return true;
  // Two 403s must be alike: otherwise, each can have a reason of its own.
  return formBefore !== "of_the_contract" && describeAttempt(latest) === describeAttempt(before);
}

function responseForm({ outcome, response, evidence }: Attempt): ResponseForm {
  if (response === undefined || isHtml(response)) return "foreign";
  if (!promisedStatuses.has(response.status)) return "foreign";
  if (response.status === 200 && response.json === undefined) return "foreign";

  if (response.status !== 403 || evidence.kind !== "counts") return "of_the_contract";
  const { status, code } = outcomeRow(outcome);
  const isOfOutcome = status === 403 && memberIn(response, ["error", "code"]) === code;
  return isOfOutcome ? "of_the_contract" : "another_403";
}

function isPage({ response }: Attempt): boolean {
  return response !== undefined && isHtml(response);
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

  // The API's own response is neither foreign nor like the 403s that ended the comparison.
  const suspicious = attempts.slice(-2).filter((attempt) => responseForm(attempt) !== "of_the_contract");
  const suspiciousWords = new Set(suspicious.map(describeAttempt));
  const lastOfApi = attempts.findLastIndex((attempt) => {
    return responseForm(attempt) !== "foreign" && !suspiciousWords.has(describeAttempt(attempt));
  });
  return attempts.slice(lastOfApi + 1);
}
