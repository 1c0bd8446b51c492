import type { PathId } from "../domain/outcomes.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { type LimitReading, secondsToRetry } from "./limit-reading.js";

/**
 * What `error.details` says of a refusal where it says anything; `undefined` for a 401, which never says why (R14).
 */
export function errorDetails(
  path: PathId,
  { holder }: KeyEntry,
  scope: string | null,
  limits: readonly LimitReading[],
): Readonly<Record<string, unknown>> | undefined {
  switch (path) {
    case "403.access_denied":
      return { organization_status: holder.organization.status };
    case "403.live_not_approved":
    case "403.live_suspended":
      return { live_access: holder.organization.liveAccess };
    case "403.insufficient_scope":
      return { required_scope: scope };
    case "429.per_minute":
    case "429.per_day":
      return { limit: path.slice("429.".length), retry_after_seconds: secondsToRetry(limits) };
    default:
      return undefined;
  }
}
