import { describeKind } from "../response/describe.js";
import { describeMember } from "../response/describe-response.js";
import { memberIn, numberText, perDayPath, readDayUse, todayPath } from "../response/members.js";
import type { RedactedResponse } from "../response/redacted-response.js";
import type { Attempt, AttemptRequest, Evidence } from "./attempt.js";
import { weighLimit } from "./whose-limit.js";

/** Returns what a response shows of its outcome, as far as the requests before it tell. */
export function weighResponse(
  request: Pick<Attempt, "outcome" | "apiKey" | "sentAt">,
  response: RedactedResponse,
  earlier: readonly Attempt[],
): Evidence {
  if (response.status === 429) return weighLimit(request, earlier);
  if (response.status === 200) return weighSuccess(request, response);
  return { kind: "judged" };
}

/** A 200 may be right, although the key should have been rejected. */
function weighSuccess({ outcome }: AttemptRequest, response: RedactedResponse): Evidence {
  // Responses do not show the required scope, so there may be none.
  if (outcome === "403.insufficient_scope") {
    return { kind: "key_in_doubt", why: "the endpoint needs no scope, or this key has it" };
  }
  if (outcome === "429.per_minute") return { kind: "key_in_doubt", why: "the key was not at its limit" };
  if (outcome !== "429.per_day") return { kind: "judged" };

  const use = readDayUse(response);
  if (use === undefined) {
    const limit = describeMember(response, perDayPath);
    const usage = describeKind(memberIn(response, todayPath));
    return { kind: "key_in_doubt", why: `its response has ${limit} in per_day, and ${usage} in usage.today` };
  }
  // A key above its limit should have got 429: the 200 is judged.
  if (use.today > use.perDay) return { kind: "judged" };
  const limit = numberText(response, perDayPath, use.perDay);
  return { kind: "key_in_doubt", why: `the key was not at its limit of ${limit} in a day` };
}
