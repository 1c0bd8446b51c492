import { keyStateAt, keyStateTable } from "../rules/api-key.js";
import { type Presented, publicCause } from "../rules/authorize.js";
import { faultOutcomeOf } from "../rules/fault-effects.js";
import { type ApiOutcomeId, isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { isoOf } from "../rules/time.js";
import { type FaultFacts, possibleEffects } from "../sandbox/active-faults.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import { profileOf } from "../sandbox/profile.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { isReserved } from "../scenario/format/fields.js";
import { authorizationFacts, decide, scopeOf } from "./decide.js";
import { me } from "./endpoints/me.js";
import { codeOf } from "./http-messages.js";
import { limitUses } from "./limits.js";
import { respondToCall } from "./respond.js";

/** The response that a call would get. Counts nothing (R24); in a run, it has the variants of this response. */
export function predict(sandbox: SandboxState, call: ApiCall): CallResult<ApiOutcomeId> {
  return respondToCall(sandbox, withOwnUsage(call));
}

/** The outcome that a call would have. Counts, varies and changes nothing. */
export function predictOutcome(sandbox: SandboxState, call: ApiCall): ApiOutcomeId {
  return decide(sandbox, withOwnUsage(call)).outcome;
}

/** Counted in a copy of the key's usage, so that a success shows the usage after the call. */
function withOwnUsage<Call extends Pick<ApiCall, "entry">>(call: Call): Call {
  const { entry } = call;
  if (entry === undefined) return call;
  return { ...call, entry: { ...entry, usage: structuredClone(entry.usage) } };
}

type NextCall = Pick<ApiCall, "presented" | "entry" | "now"> & { readonly endpoint: Endpoint };

/**
 * What the next request with a key would get, and the faults that may hit it: counts and changes nothing.
 * Its ref may also be `none`, `malformed` or `unknown`. Throws `unknown_ref`.
 */
export function nextRequest(sandbox: SandboxState, ref: string, endpoint: Endpoint = me) {
  const entry = isReserved(ref) ? undefined : sandbox.registry.key(ref);
  const call: NextCall = { presented: presentedByRef(ref), entry, endpoint, now: sandbox.clock.now() };
  const { outcome } = decide(sandbox, withOwnUsage(call));
  const { status } = outcomeOf(outcome);
  const code = expectedCode(sandbox, outcome);

  const facts = faultFacts(call, () => outcome);
  const effects = possibleEffects(sandbox.faults, facts);
  const faultOutcomes = [...new Set(effects.map(faultOutcomeOf))];

  let why: string | null = null;
  let until: string | null = null;
  if (entry !== undefined) {
    why = causeOf(sandbox, outcome, { ...call, entry });
    const limit = limitOf(sandbox, outcome, entry);
    if (limit?.until !== undefined) until = isoOf(limit.until);
  }

  // Every 401 and 429 has the same code, so the reason is enough.
  let sentence = status === 403 ? `${status} ${code}:` : String(status);
  if (why !== null) sentence += ` ${why}`;
  if (faultOutcomes.length > 0) sentence += ", or a fault";
  return { status, code, outcome, why, faultOutcomes, sentence, until };
}

function presentedByRef(ref: string): Presented {
  if (ref === "none") return "missing";
  return ref === "malformed" ? "malformed" : "well_formed";
}

/** The code of the next response with this outcome; `null` on success, and if it varies between responses. */
function expectedCode(sandbox: SandboxState, outcome: OutcomeId): string | null {
  const isOfLimit = outcomeOf(outcome).status === 429;
  const isOpen = profileOf(sandbox) === "varied" && sandbox.ownAssumptions.rate_limit_code === undefined;
  if (isOfLimit && isOpen) return null;
  return codeOf(outcome, sandbox.assumptions);
}

/** What faults see of a call that would have this outcome. */
export function faultFacts(
  { entry, endpoint, now }: Pick<ApiCall, "entry" | "now"> & { readonly endpoint?: Endpoint | undefined },
  expectedOutcome: () => ApiOutcomeId,
  method = endpoint?.method,
): FaultFacts {
  // Each rejection has a body.
  const isEmpty = () => endpoint?.respond(undefined).text === "" && isSuccess(expectedOutcome());
  return {
    key: entry?.key.ref,
    organization: entry?.key.organization,
    now,
    expectedOutcome,
    hasBody: (status) => method !== "HEAD" && (status !== undefined || !isEmpty()),
  };
}

/** When the limit of a 429 resets, or why waiting does not help; `undefined` for another outcome. */
function limitOf(sandbox: SandboxState, outcome: ApiOutcomeId, entry: KeyEntry) {
  if (outcome !== "429.per_minute" && outcome !== "429.per_day") return undefined;
  const name = outcome === "429.per_day" ? "day" : "minute";
  const { quota, resetsAt } = limitUses(entry, sandbox, sandbox.clock.now())[name];
  if (quota === 0) return { never: `always: allows 0 requests a ${name}` };

  const state = keyStateAt(entry.key, resetsAt);
  if (!keyStateTable[state].isOver) return { until: resetsAt };
  if (state === "rotated") return { never: "the key's overlap ends first" };
  return { never: "the key expires first" };
}

/** What to do about an outcome that the next request would get as well. */
export function whatToDoAbout(outcome: OutcomeId, next?: Record<"why" | "until", string | null>): string {
  const { status, whatToDo } = outcomeOf(outcome);
  if (status === 429 && next !== undefined && next.until === null) {
    return `Create a new key: waiting does not help (${next.why}).`;
  }
  return whatToDo;
}

/** The cause of this outcome, with facts of the key, such as `expired since …`; `null` on success. */
function causeOf(
  sandbox: SandboxState,
  outcome: ApiOutcomeId,
  call: NextCall & { readonly entry: KeyEntry },
): string | null {
  const { entry, endpoint, now } = call;
  const state = keyStateAt(entry.key, now);
  const { rejection, since } = keyStateTable[state];
  if (since !== null && rejection === outcome) return `${state} since ${shortIso(entry.key[since] ?? now)}`;

  const limit = limitOf(sandbox, outcome, entry);
  if (limit === undefined) {
    const facts = authorizationFacts(sandbox, call, scopeOf(endpoint, sandbox));
    return publicCause(outcome, facts)?.why ?? null;
  }
  if (limit.until === undefined) return limit.never;

  // Of today, the time is enough.
  const until = shortIso(limit.until);
  const [today] = shortIso(now).split("T");
  if (until.startsWith(`${today}T`)) return `until ${until.slice(11, 19)}`;
  return `until ${until}`;
}

function shortIso(instant: number): string {
  return isoOf(instant).replace(/(?:\.\d+)?Z$/, "Z");
}
