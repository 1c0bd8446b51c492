import { type ApiOutcomeId, isSuccess, outcomeRow } from "../rules/outcomes.js";
import type { RoutedCall } from "../sandbox/api-call.js";
import { type Endpoint, ownSuccessOf } from "../sandbox/endpoint.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { usageAt } from "../sandbox/usage.js";
import { type AuthorizationFacts, authorize, outcomeOfLimits } from "./authorize.js";
import { limitUses } from "./limits.js";

/** What the checks and the endpoint decide about a call: which response it gets, not how this is written. */
export type Decision =
  | { readonly kind: "rejected"; readonly outcome: ApiOutcomeId }
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
    return { kind: "rejected", outcome: route === undefined ? "404.unknown_path" : "405.method" };
  }

  const outcome = authorizeAndCount(sandbox, call);
  if (entry === undefined || !isSuccess(outcome)) return { kind: "rejected", outcome };
  // The key decides which success of `/me` it is.
  const success = endpoint.isMe ? outcome : ownSuccessOf(endpoint);
  return { kind: "accepted", outcome: success, endpoint, entry };
}

/** The scope that an endpoint requires; `null` if none. */
export function requiredScope({ scope }: Endpoint, { assumptions }: SandboxState): string | null {
  return scope === undefined ? assumptions.me_scope : scope;
}

/** Authorizes a call, and counts it if it is admitted, or if the sandbox counts rejected ones as well (R24). */
function authorizeAndCount(sandbox: SandboxState, call: RoutedCall): ApiOutcomeId {
  const { assumptions, windows } = sandbox;
  const { entry, now } = call;
  // Only the keys of the sandbox are counted.
  if (entry === undefined) return authorize(authorizationFacts(sandbox, call));

  entry.usage = usageAt(entry.usage, windows, now);
  const outcomeBefore = authorize(authorizationFacts(sandbox, call));
  const isCounted = isSuccess(outcomeBefore) || assumptions.count_rejected;
  if (!isCounted) return outcomeBefore;

  countCall(entry.usage, windows, now);
  const isOverLimit = outcomeRow(outcomeBefore).status === 429;
  if (!isOverLimit) return outcomeBefore;

  // A call over one limit may reach the other one, because it is counted, too. With 60 a minute and 1,000 a day, the 61st call of
  // this minute may be the 1,000th of today. It then gets 429.per_day: the client must wait for the next day. Only the limits are
  // asked again, because counting a call changes nothing else.
  return outcomeOfLimits(limitUses(entry, sandbox, now)) ?? outcomeBefore;
}

function countCall(usage: KeyEntry["usage"], windows: SandboxState["windows"], now: number): void {
  usage.minuteCount += 1;
  usage.dayCount += 1;
  if (windows.sliding) usage.countedAt.push(now);
}

/** What the checks of a call depend on. A call without an endpoint needs no scope. */
export function authorizationFacts(
  sandbox: SandboxState,
  { presented, entry, now, endpoint }: RoutedCall,
): AuthorizationFacts {
  return {
    presented,
    key: entry?.key,
    organization: entry?.owner.organization,
    now,
    scope: endpoint === undefined ? null : requiredScope(endpoint, sandbox),
    addedScopes: sandbox.additions.scopes,
    limits: entry && limitUses(entry, sandbox, now),
  };
}
