import { pluralize } from "../../report/plain-text.js";
import { hidesOutcomes } from "../../runs/conditions.js";
import { nameOf } from "../checks/check.js";
import { type ClientRun, endWords, isNoticed } from "./client-run.js";

/**
 * The line of a run that has ended, in the words of the results; none if it could not start. The first run shows how many requests the command
 * sends. `noticed`: it failed after a wrong response, as a correct client does.
 *
 *     passed               varied.3                                      4
 *     noticed              answer.401.revoked                            12
 *     did not end in time  fault.hang                                    27
 *     failed               varied.5, again, only etag                    33
 */
export function progressLines(run: ClientRun, isAgain: boolean): string[] {
  const name = nameOf(run.purpose);
  if (run.failure !== undefined) return [];
  if (run.number === 1) return [`${name}  ${pluralize(run.report.requests, "request")}`];

  const words = [name];
  if (isAgain) words.push("again");
  const { rows, onRequest } = run.conditions;
  if (rows !== undefined) words.push(rows.length === 1 ? `only ${rows[0]?.row}` : `only ${rows.length} rows`);
  if (onRequest?.which.kind === "each") words.push("each request");
  if (run.purpose.kind === "resend_control") words.push("a 404");
  const end = hidesOutcomes(run.conditions) && isNoticed(run) ? "noticed" : endWords(run);
  return [`${end.padEnd(19)}  ${words.join(", ").padEnd(44)}  ${run.number}`];
}
