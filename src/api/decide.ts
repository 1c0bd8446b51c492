import { type AuthorizationFacts, authorize } from "../rules/authorize.js";
import { type ApiOutcomeId, isSuccess } from "../rules/outcomes.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { type Endpoint, successOutcomeOf } from "../sandbox/endpoint.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { usageAt } from "../sandbox/usage.js";
import { limitUses } from "./limits.js";

export interface Rejection {
  readonly outcome: ApiOutcomeId;
  readonly scope?: string | null;
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

type DecidedCall = Pick<ApiCall, "endpoint" | "presented" | "entry" | "now"> &
  Partial<Pick<ApiCall, "route">>;

/** Decides a call, and counts it (R24). */
export function decide(sandbox: SandboxState, call: DecidedCall): Decision {
  const { route, endpoint } = call;
  if (endpoint === undefined) {
    if (route === undefined) return { kind: "rejected", outcome: "404.unknown_path" };
    return { kind: "rejected", outcome: "405.method", allow: route.allow };
  }

  const { entry } = call;
  const scope = scopeOf(endpoint, sandbox);
  const admitted = admit(sandbox, call, scope);
  if (entry === undefined || !isSuccess(admitted)) return { kind: "rejected", outcome: admitted, scope };
  return { kind: "accepted", outcome: successOutcomeOf(endpoint, admitted), endpoint, entry };
}

export function scopeOf({ scope }: Endpoint, { assumptions }: SandboxState): string | null {
  return scope === undefined ? assumptions.me_scope : scope;
}

type Caller = Pick<ApiCall, "presented" | "entry" | "now">;

/** Authorizes a call and counts it if it is admitted (R24). */
function admit(sandbox: SandboxState, call: Caller, scope: string | null): ApiOutcomeId {
  const { assumptions, windows } = sandbox;
  const { entry, now } = call;
  if (entry !== undefined) entry.usage = usageAt(entry.usage, windows, now);
  const outcome = authorize(authorizationFacts(sandbox, call, scope));

  // Only the sandbox's keys have counters.
  if (entry === undefined) return outcome;
  const isAdmitted = isSuccess(outcome);
  if (!isAdmitted && !assumptions.count_rejected) return outcome;
  const { usage } = entry;
  usage.minuteCount += 1;
  usage.dayCount += 1;
  if (windows.sliding) usage.recent.push(now);
  if (isAdmitted) return outcome;

  // A rejected request that counts may reach the limit that ends last.
  return authorize(authorizationFacts(sandbox, call, scope));
}

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
    limits: entry && limitUses(entry, sandbox, now),
  };
}
