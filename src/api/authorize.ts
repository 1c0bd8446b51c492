import { type KeyRecord, keyStateAt, keyStateTable } from "../rules/key-state.js";
import type { PresentedKind } from "../rules/keys/key-text.js";
import type { Organization } from "../rules/organization.js";
import { type ApiOutcomeId, isSuccess, successOfKey } from "../rules/outcomes.js";
import { type Endpoint, ownSuccessOf, type RoutedCall } from "../sandbox/call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { type LimitUses, limitUses, reachedLimit, usageAt } from "../sandbox/usage.js";

// How a call ends: by the first of the checks that rejects it, or else as a success. And whether it counts for the limits of its key:
//
// | a call                                         | counts                     |
// |------------------------------------------------|----------------------------|
// | that no check rejects                          | yes (R24)                  |
// | that a check rejects: 401, 403, 404, 405, 429  | no                         |
// | whose response a fault replaces                | no: it is not decided here |

/** Decides which outcome a call has, and counts it. */
export function decideAndCount(sandbox: SandboxState, call: RoutedCall): ApiOutcomeId {
  const { route, endpoint, entry, now } = call;
  if (endpoint === undefined) return route === undefined ? "404.unknown_path" : "405.method";

  if (entry !== undefined) entry.usage = usageAt(entry.usage, now);
  const outcome = authorize(authorizationFacts(sandbox, call));
  if (!isSuccess(outcome)) return outcome;

  if (entry !== undefined) {
    entry.usage.minuteCount += 1;
    entry.usage.dayCount += 1;
  }
  // The key decides which success of `/me` it is.
  return endpoint.isMe ? outcome : ownSuccessOf(endpoint);
}

/** The outcome that a call would have. Counts and changes nothing. */
export function predictOutcome(sandbox: SandboxState, call: RoutedCall): ApiOutcomeId {
  return decideAndCount(sandbox, withCopiedEntry(call));
}

/**
 * The call with a copy of its key's entry. To decide a call is to count it: then the copy is counted, so that a success shows the
 * usage with this call, and the sandbox's own entry stays as it is.
 */
export function withCopiedEntry<Call extends RoutedCall>(call: Call): Call {
  const { entry } = call;
  if (entry === undefined) return call;
  return { ...call, entry: { ...entry, usage: structuredClone(entry.usage) } };
}

/** What the checks know of a request. */
export interface AuthorizationFacts {
  readonly presented: PresentedKind;
  /** The presented key, if the sandbox has it. */
  readonly key: KeyRecord | undefined;
  readonly organization: Organization | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The scope that the endpoint needs; null for none. */
  readonly scope: string | null;
  /** The scopes that the profile `varied` shows with each key, besides the key's own; no endpoint needs one of them. */
  readonly addedScopes: readonly string[];
  /** The limits of the key, without this request; `undefined` without a key of the sandbox. */
  readonly limits: LimitUses | undefined;
}

/** What the checks of a call depend on. A call without an endpoint needs no scope. */
function authorizationFacts(
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
    limits: entry && limitUses(entry, now),
  };
}

/** The scope that an endpoint requires; `null` if none. */
export function requiredScope({ scope }: Endpoint, { assumptions }: SandboxState): string | null {
  return scope === undefined ? assumptions.me_scope : scope;
}

/** A check of a request, for people. */
export interface RequestCheck {
  readonly name: string;
  readonly question: string;
  /** The rules of the specification: `R18`. */
  readonly rules: string;
  /** The outcomes of requests that it rejects. */
  readonly exits: readonly ApiOutcomeId[];
}

/** The cause of a 403. A 401 never tells its cause (R14), and that of a 429 is its limit. */
interface PublicCause {
  /** For `error.details`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** In words. */
  readonly why: string;
}

/** The checks of a request before those of its endpoint. */
const targetChecks: readonly RequestCheck[] = [
  { name: "path", question: "Does the API have this path?", rules: "R1", exits: ["404.unknown_path"] },
  { name: "method", question: "Does the path accept this method?", rules: "R1", exits: ["405.method"] },
];

const stateRejections = Object.values(keyStateTable)
  .map(({ rejection }) => rejection)
  .filter((rejection) => rejection !== null);

/** The checks of an endpoint, in order; the first one that rejects ends the request. */
export const authorizationChecks: readonly (RequestCheck & {
  /** The outcome of a request that it rejects; `undefined` if it passes. */
  readonly reject: (facts: AuthorizationFacts) => ApiOutcomeId | undefined;
  readonly explain?: (facts: AuthorizationFacts) => PublicCause;
})[] = [
  {
    name: "key",
    question: "Is there exactly one well-formed key, known and still working?",
    rules: "R9–R16, R38–R43",
    exits: ["401.missing", "401.malformed", "401.unknown", ...stateRejections],
    reject({ presented, key, now }) {
      if (presented === "missing") return "401.missing";
      if (presented === "malformed") return "401.malformed";
      if (key === undefined) return "401.unknown";
      return keyStateTable[keyStateAt(key, now)].rejection ?? undefined;
    },
  },
  {
    name: "organization",
    question: "Is the key's organization active?",
    rules: "R18",
    exits: ["403.access_denied"],
    reject: ({ organization }) => (organization?.status === "active" ? undefined : "403.access_denied"),
    explain: ({ organization }) => ({
      details: { organization_status: organization?.status },
      why: `organization is ${organization?.status}`,
    }),
  },
  {
    name: "live access",
    question: "If the key is a live one: is its organization approved for live access?",
    rules: "R19, R20",
    exits: ["403.live_not_approved", "403.live_suspended"],
    reject({ key, organization }) {
      if (key?.environment !== "live") return undefined;
      if (organization?.liveAccess === "approved") return undefined;
      return organization?.liveAccess === "suspended" ? "403.live_suspended" : "403.live_not_approved";
    },
    explain({ organization }) {
      const liveAccess = organization?.liveAccess ?? "not_approved";
      const why = `live access is ${liveAccess.replace("_", " ")}`;
      return { details: { live_access: liveAccess }, why };
    },
  },
  {
    name: "scope",
    question: "Does the key have the scope that the endpoint needs?",
    rules: "R21",
    exits: ["403.insufficient_scope"],
    reject({ key, scope }) {
      if (scope === null) return undefined;
      return key?.scopes.includes(scope) ? undefined : "403.insufficient_scope";
    },
    explain({ key, scope, addedScopes }) {
      const shownScopes = key === undefined ? [] : [...key.scopes, ...addedScopes];
      const scopes = shownScopes.join(" ") || "none";
      return { details: { required_scope: scope }, why: `needs ${scope}, has ${scopes}` };
    },
  },
  {
    name: "limits",
    question: "Are there requests left in this minute and today?",
    rules: "R22–R25",
    exits: ["429.per_minute", "429.per_day"],
    reject({ limits }) {
      const reached = limits && reachedLimit(limits);
      if (reached === undefined) return undefined;
      return reached === "day" ? "429.per_day" : "429.per_minute";
    },
  },
];

export const requestChecks: readonly RequestCheck[] = [...targetChecks, ...authorizationChecks];

/** Decides the outcome of a request to an endpoint. Pure: the same facts always have the same outcome. */
export function authorize(facts: AuthorizationFacts): ApiOutcomeId {
  for (const check of authorizationChecks) {
    const rejected = check.reject(facts);
    if (rejected !== undefined) return rejected;
  }
  if (facts.key === undefined) throw new Error("a request was authorized without a key");
  return successOfKey(facts.key);
}

/** What the rejection of a call tells about its cause; `undefined` for an outcome of another status than 403. */
export function publicCause(
  sandbox: SandboxState,
  call: RoutedCall,
  outcome: ApiOutcomeId,
): PublicCause | undefined {
  const rejecting = authorizationChecks.find(({ exits }) => exits.includes(outcome));
  return rejecting?.explain?.(authorizationFacts(sandbox, call));
}
