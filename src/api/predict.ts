import { keyStateAt, keyStateTable } from "../rules/api-key.js";
import { type PresentedKind, publicCause } from "../rules/authorize.js";
import { faultOutcomeId } from "../rules/fault-effects.js";
import { type ApiOutcomeId, isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import { type FaultFacts, possibleEffects } from "../sandbox/active-faults.js";
import type { AimedCall, ApiCall, Caller } from "../sandbox/api-call.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import { profileInEffect } from "../sandbox/profile.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { isReserved } from "../scenario/format/fields.js";
import { authorizationFacts, decide, requiredScope } from "./decide.js";
import { me } from "./endpoints/me.js";
import { codeOf } from "./http-messages.js";
import { limitUses } from "./limits.js";
import { respondToCall } from "./respond.js";

/** How long a key gets a 429: until its limit resets, or as long as it works, whose reason is then in words. */
type LimitedTime =
  | { readonly kind: "until"; readonly at: number }
  | { readonly kind: "always"; readonly why: string };

/** The response that a call would get. Counts nothing (R24); in a run, it has the variants of this response. */
export function predict(sandbox: SandboxState, call: ApiCall): CallResult<ApiOutcomeId> {
  return respondToCall(sandbox, uncounted(call));
}

/** The outcome that a call would have. Counts, varies and changes nothing. */
export function predictOutcome(sandbox: SandboxState, call: ApiCall): ApiOutcomeId {
  return decide(sandbox, uncounted(call)).outcome;
}

/**
 * The same call with a copy of its key's entry. Who responds to it counts it as any other call, so that a success shows the
 * usage with this call; but it is counted in the copy, which nobody keeps.
 */
function uncounted<Call extends AimedCall>(call: Call): Call {
  const { entry } = call;
  if (entry === undefined) return call;
  return { ...call, entry: { ...entry, usage: structuredClone(entry.usage) } };
}

/**
 * What the next request with a key would get, and the faults that may hit it: counts and changes nothing.
 * Its ref may also be `none`, `malformed` or `unknown`. Throws `unknown_ref`.
 */
export function nextRequest(sandbox: SandboxState, ref: string, endpoint: Endpoint = me) {
  const entry = isReserved(ref) ? undefined : sandbox.registry.key(ref);
  const now = sandbox.clock.now();
  const call: AimedCall = { presented: presentedByRef(ref), entry, now, route: undefined, endpoint };
  const { outcome } = decide(sandbox, uncounted(call));
  const { status } = outcomeRow(outcome);
  const code = expectedCode(sandbox, outcome);

  const facts = faultFacts(call, () => outcome);
  const effects = possibleEffects(sandbox.faults, facts);
  const faultOutcomes = [...new Set(effects.map(faultOutcomeId))];

  let why: string | null = null;
  let until: string | null = null;
  if (entry !== undefined) {
    const limited = limitedTime(sandbox, outcome, entry, now);
    if (limited === undefined) {
      why = rejectionCause(sandbox, outcome, call, entry, endpoint);
    } else if (limited.kind === "always") {
      why = limited.why;
    } else {
      why = untilInWords(limited.at, now);
      until = isoTime(limited.at);
    }
  }

  // Every 401 and 429 has the same code, so the reason is enough.
  let sentence = status === 403 ? `${status} ${code}:` : String(status);
  if (why !== null) sentence += ` ${why}`;
  if (faultOutcomes.length > 0) sentence += ", or a fault";
  return { status, code, outcome, why, faultOutcomes, sentence, until };
}

function presentedByRef(ref: string): PresentedKind {
  if (ref === "none") return "missing";
  return ref === "malformed" ? "malformed" : "well_formed";
}

/** The code of the next response with this outcome; `null` on success, and if it varies between responses. */
function expectedCode(sandbox: SandboxState, outcome: OutcomeId): string | null {
  const isOfLimit = outcomeRow(outcome).status === 429;
  const isOpen =
    profileInEffect(sandbox) === "varied" && sandbox.ownAssumptions.rate_limit_code === undefined;
  if (isOfLimit && isOpen) return null;
  return codeOf(outcome, sandbox.assumptions);
}

/** What a fault can match of a call, besides its outcome. */
interface MatchedCall {
  readonly entry: KeyEntry | undefined;
  readonly endpoint: Endpoint | undefined;
  readonly now: number;
}

/** What faults see of a call that would have this outcome. */
export function faultFacts(
  { entry, endpoint, now }: MatchedCall,
  expectedOutcome: () => ApiOutcomeId,
  method = endpoint?.method,
): FaultFacts {
  // A success of an endpoint may have no body. Each rejection has one.
  const isEmpty = () => endpoint?.hasBody === false && isSuccess(expectedOutcome());
  return {
    key: entry?.key.ref,
    organization: entry?.key.organization,
    now,
    expectedOutcome,
    hasBody: (status) => method !== "HEAD" && (status !== undefined || !isEmpty()),
  };
}

/** How long a key gets this 429; `undefined` for another outcome. */
function limitedTime(
  sandbox: SandboxState,
  outcome: ApiOutcomeId,
  entry: KeyEntry,
  now: number,
): LimitedTime | undefined {
  if (outcome !== "429.per_minute" && outcome !== "429.per_day") return undefined;
  const name = outcome === "429.per_day" ? "day" : "minute";
  const { quota, resetsAt } = limitUses(entry, sandbox, now)[name];
  if (quota === 0) return { kind: "always", why: `always: allows 0 requests a ${name}` };

  // The key may stop working before.
  const state = keyStateAt(entry.key, resetsAt);
  if (!keyStateTable[state].isOver) return { kind: "until", at: resetsAt };
  if (state === "rotated") return { kind: "always", why: "the key's overlap ends first" };
  return { kind: "always", why: "the key expires first" };
}

/** Why a key gets this 401 or 403, with facts of the key, such as `expired since …`; `null` on success. */
function rejectionCause(
  sandbox: SandboxState,
  outcome: ApiOutcomeId,
  caller: Caller,
  entry: KeyEntry,
  endpoint: Endpoint,
): string | null {
  const { now } = caller;
  const state = keyStateAt(entry.key, now);
  const { rejection, since } = keyStateTable[state];
  if (since !== null && rejection === outcome) return `${state} since ${shortIso(entry.key[since] ?? now)}`;

  const facts = authorizationFacts(sandbox, caller, requiredScope(endpoint, sandbox));
  return publicCause(outcome, facts)?.why ?? null;
}

/** `until 09:01:00`, with the date if it is another day. */
function untilInWords(instant: number, now: number): string {
  const until = shortIso(instant);
  const [today] = shortIso(now).split("T");
  if (until.startsWith(`${today}T`)) return `until ${until.slice(11, 19)}`;
  return `until ${until}`;
}

/** ISO 8601 without milliseconds. */
function shortIso(instant: number): string {
  return isoTime(instant).replace(/(?:\.\d+)?Z$/, "Z");
}

/** What to do about an outcome that the next request would get as well. */
export function whatToDoAbout(outcome: OutcomeId, next?: Record<"why" | "until", string | null>): string {
  const { status, whatToDo } = outcomeRow(outcome);
  if (status === 429 && next !== undefined && next.until === null) {
    return `Create a new key: waiting does not help (${next.why}).`;
  }
  return whatToDo;
}
