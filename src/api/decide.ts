import { type ApiOutcomeId, isSuccess } from "../rules/outcomes.js";
import type { Caller, RoutedCall } from "../sandbox/api-call.js";
import { type Endpoint, successOutcomeOf } from "../sandbox/endpoint.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { usageAt } from "../sandbox/usage.js";
import { type AuthorizationFacts, authorize } from "./authorize.js";
import { limitUses } from "./limits.js";

export interface Rejection {
  readonly outcome: ApiOutcomeId;
  /** The scope that the endpoint requires; `null` if none. Default: there is no endpoint. */
  readonly scope?: string | null;
  /** The methods of the path, for a 405. */
  readonly allow?: string;
}

/** What the checks and the endpoint decide about a call, without everything that the specification leaves open. */
export type Decision =
  | (Rejection & { readonly kind: "rejected" })
  | {
      readonly kind: "accepted";
      readonly outcome: ApiOutcomeId;
      readonly endpoint: Endpoint;
      readonly entry: KeyEntry;
    };

/** Decides a call, and counts it (R24). */
export function decide(sandbox: SandboxState, call: RoutedCall): Decision {
  const { route, endpoint, entry } = call;
  if (endpoint === undefined) {
    if (route === undefined) return { kind: "rejected", outcome: "404.unknown_path" };
    return { kind: "rejected", outcome: "405.method", allow: route.allow };
  }

  const scope = requiredScope(endpoint, sandbox);
  const outcome = authorizeAndCount(sandbox, call, scope);
  if (entry === undefined || !isSuccess(outcome)) return { kind: "rejected", outcome, scope };
  return { kind: "accepted", outcome: successOutcomeOf(endpoint, outcome), endpoint, entry };
}

/** The scope that an endpoint requires; `null` if none. */
export function requiredScope({ scope }: Endpoint, { assumptions }: SandboxState): string | null {
  return scope === undefined ? assumptions.me_scope : scope;
}

/** Authorizes a call, and counts it if it is admitted, or if the sandbox counts rejected ones as well (R24). */
function authorizeAndCount(sandbox: SandboxState, call: Caller, scope: string | null): ApiOutcomeId {
  const { assumptions, windows } = sandbox;
  const { entry, now } = call;
  // Only the keys of the sandbox are counted.
  if (entry === undefined) return authorize(authorizationFacts(sandbox, call, scope));

  entry.usage = usageAt(entry.usage, windows, now);
  const outcome = authorize(authorizationFacts(sandbox, call, scope));
  const isAdmitted = isSuccess(outcome);
  if (!isAdmitted && !assumptions.count_rejected) return outcome;

  const { usage } = entry;
  usage.minuteCount += 1;
  usage.dayCount += 1;
  if (windows.sliding) usage.recent.push(now);
  if (isAdmitted) return outcome;

  // Only a 429 can change now: by its own count, the call may have reached the other limit as well, which the 429 is then about.
  return authorize(authorizationFacts(sandbox, call, scope));
}

/** What the checks of a call depend on. */
export function authorizationFacts(
  sandbox: SandboxState,
  { presented, entry, now }: Caller,
  scope: string | null,
): AuthorizationFacts {
  return {
    presented,
    key: entry?.key,
    organization: entry?.owner.organization,
    now,
    scope,
    grantedScopes: sandbox.additions.scopes,
    limits: entry && limitUses(entry, sandbox, now),
  };
}
