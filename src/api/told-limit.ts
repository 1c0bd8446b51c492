import type { Assumptions } from "../domain/assumptions.js";
import type { ToldLimit } from "../sandbox/conduct-memory.js";
import { type LimitReading, lastToReset, tightestOf } from "./limit-reading.js";

/**
 * The limit whose end an answer with 429 names, by a header or in its body; `undefined` when it names none.
 *
 * A client that finds several of them goes by the first: `Retry-After` is what HTTP has for it.
 */
export function toldLimit(
  assumptions: Assumptions,
  limits: readonly LimitReading[],
  { hasBody }: { readonly hasBody: boolean },
): ToldLimit {
  const { retry_after: retryAfter, rate_limit_headers: form, error_details: hasDetails } = assumptions;
  if (retryAfter !== "none" || form === "draft") return lastToReset(limits)?.name;
  if (form === "legacy") return tightestOf(limits)?.name;
  return hasDetails && hasBody ? lastToReset(limits)?.name : undefined;
}
