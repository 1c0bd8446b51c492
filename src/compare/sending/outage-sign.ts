import { pluralize } from "../../report/plain-text.js";
import { outcomeRow } from "../../rules/outcomes.js";
import { isHtml } from "../response/headers.js";
import { type Attempt, describeAttempt } from "./attempt.js";
import type { Ending } from "./endings.js";
import { responseForm } from "./response-form.js";

// An outage, or a lock of the address or of a key, is no broken rule: it ends a comparison. A 401 is what rejected keys should
// get, so only a 401 to a key that has worked, in a request for a 200, shows a lock.
// Other responses are suspicious by their form:
//
// | latest response | response before | suspicious |
// |---|---|---|
// | of the contract | any | no |
// | in another form, to a key that has worked, for a 200 | any | yes: the key should get 200 |
// | foreign | foreign | yes |
// | foreign, or an undocumented 403 | one of these, in the same words | yes |
// | foreign, or an undocumented 403 | any other | no: each can have a reason of its own |

/**
 * What the latest response shows of the service:
 * - `works`: no sign of an outage
 * - `suspicious`: a request without a key must show that the service still works
 * - `out_or_locked`: it is out, or has locked a key; `got` describes the latest response, with what shows this
 */
type OutageSign =
  | { readonly kind: "works" | "suspicious" }
  | { readonly kind: "out_or_locked"; readonly ending: Ending; readonly got: string };

/** Looks for an outage in the latest of these attempts. */
export function findOutageSign(attempts: readonly Attempt[]): OutageSign {
  const latest = attempts.at(-1);
  if (latest === undefined) return { kind: "works" };
  const got = describeAttempt(latest);
  if (latest.response?.status === 503) return { kind: "out_or_locked", ending: "unavailable", got };

  const earlier = attempts.slice(0, -1);
  const before = earlier.at(-1);
  if (before === undefined) return { kind: "works" };
  if (isPage(latest) && isPage(before)) {
    return { kind: "out_or_locked", ending: "pages", got: `${got}, the second HTML page in a row` };
  }
  if (latest.response === undefined && before.response === undefined) {
    return { kind: "out_or_locked", ending: "silence", got: `${got}, the second time in a row` };
  }

  const shouldKeyWork = shouldStillWork(latest, earlier);
  if (shouldKeyWork && latest.response?.status === 401) {
    const rejected = earlier.filter(({ response }) => response?.status === 401);
    const requests = pluralize(rejected.length, "rejected request");
    return { kind: "out_or_locked", ending: "locked", got: `${got}: locked after ${requests}` };
  }
  return { kind: isSuspicious(latest, before, shouldKeyWork) ? "suspicious" : "works" };
}

/** Whether the key of an attempt must get a 200, and one of the earlier attempts has got it. */
function shouldStillWork({ outcome, apiKey }: Attempt, earlier: readonly Attempt[]): boolean {
  if (outcomeRow(outcome).status !== 200) return false;
  return earlier.some((attempt) => attempt.apiKey === apiKey && attempt.response?.status === 200);
}

/** Whether an outage or a lock may have sent the latest response, by the table above. */
function isSuspicious(latest: Attempt, before: Attempt, shouldKeyWork: boolean): boolean {
  const form = responseForm(latest);
  if (form === "of_the_contract") return false;
  if (shouldKeyWork) return true;

  const formBefore = responseForm(before);
  if (formBefore === "of_the_contract") return false;
  if (form === "foreign" && formBefore === "foreign") return true;
  return describeAttempt(latest) === describeAttempt(before);
}

function isPage({ response }: Attempt): boolean {
  return response !== undefined && isHtml(response);
}
