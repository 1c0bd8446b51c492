import { outcomeRow, outcomes } from "../../rules/outcomes.js";
import { isHtml } from "../response/headers.js";
import { memberIn } from "../response/members.js";
import type { Attempt } from "./attempt.js";

/**
 * Who may have sent a response, by its form:
 * - `foreign`: not the API, since no outcome of the contract has a response of this form
 * - `undocumented_403`: the API or a lock, since it is a 403 that its outcome does not have
 * - `of_the_contract`: the API
 */
type ResponseForm = "foreign" | "undocumented_403" | "of_the_contract";

const promisedStatuses = new Set<number>(
  outcomes.filter(({ promised }) => promised).map(({ status }) => status),
);

export function responseForm({ outcome, response }: Attempt): ResponseForm {
  if (response === undefined || isHtml(response)) return "foreign";
  if (!promisedStatuses.has(response.status)) return "foreign";
  if (response.status === 200 && response.json === undefined) return "foreign";
  if (response.status !== 403) return "of_the_contract";

  const { status, code } = outcomeRow(outcome);
  const isOfOutcome = status === 403 && memberIn(response, ["error", "code"]) === code;
  return isOfOutcome ? "of_the_contract" : "undocumented_403";
}
