import type { FaultOutcomeId } from "../rules/fault-effects.js";
import { endTime, keyStateAt, keyStateTable } from "../rules/key-state.js";
import type { PresentedKind } from "../rules/keys/key-text.js";
import { type ApiOutcomeId, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import type { Endpoint, RoutedCall } from "../sandbox/call.js";
import { faultFacts, faultsAhead } from "../sandbox/faults.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { limitUses } from "../sandbox/usage.js";
import { isReserved } from "../scenario/format/fields.js";
import { predictOutcome, publicCause } from "./authorize.js";
import { me } from "./endpoints.js";
import { codeOf } from "./http-messages.js";

/** What the next request with a key gets. */
export interface NextResult extends RejectionReason {
  /** The status without a fault. */
  readonly status: number;
  /** Its error code; `null` on success, and if it varies between responses. */
  readonly code: string | null;
  readonly outcome: ApiOutcomeId;
  /** The faults that may hit this request or a later one like it, each once. */
  readonly faultOutcomes: readonly FaultOutcomeId[];
  /** All this for people: `429 until 09:01:00, or a fault`. */
  readonly sentence: string;
}

/**
 * What the next request with a key would get, and the faults that may hit it: counts and changes nothing.
 * Its ref may also be `none`, `malformed` or `unknown`. Throws `unknown_ref`.
 */
export function nextRequest(sandbox: SandboxState, ref: string, endpoint: Endpoint = me): NextResult {
  const entry = isReserved(ref) ? undefined : sandbox.registry.key(ref);
  const now = sandbox.clock.now();
  let presented: PresentedKind = "well_formed";
  if (ref === "none") presented = "missing";
  if (ref === "malformed") presented = "malformed";
  const call: RoutedCall = { presented, entry, now, route: undefined, endpoint };
  const { outcome, faults } = predictCall(sandbox, call);
  const { status } = outcomeRow(outcome);
  // The profile `varied` varies the code of a 429.
  const isCodeVaried =
    status === 429 &&
    sandbox.profileInEffect === "varied" &&
    sandbox.ownAssumptions.rate_limit_code === undefined;
  const code = isCodeVaried ? null : codeOf(outcome, sandbox.assumptions);

  const faultOutcomes = [...new Set(faults.map((fault) => fault.outcome))];
  const { why, until } = rejectionReason(sandbox, call, outcome);

  let sentence = String(status);
  // The status says the code, unless it is a 403.
  if (status === 403) sentence += ` ${code}:`;
  if (why !== null) sentence += ` ${why}`;
  if (faultOutcomes.length > 0) sentence += ", or a fault";
  return { status, code, outcome, why, faultOutcomes, sentence, until };
}

/** The outcome that a call would have without faults, and the faults that may hit it or a later one like it. */
export function predictCall(sandbox: SandboxState, call: RoutedCall) {
  const outcome = predictOutcome(sandbox, call);
  const facts = faultFacts(call, call.endpoint?.method, () => outcome);
  return { outcome, faults: faultsAhead(sandbox.faults, facts) };
}

/** Why a request is rejected, with facts of its key. */
interface RejectionReason {
  /** `expired since 2026-03-01T09:00:00Z`; `null` on success, and if its outcome says all, as that of an unknown key does. */
  readonly why: string | null;
  /** When a 429 ends, in ISO 8601; `null` for anything else, and if it does not end while the key works. */
  readonly until: string | null;
}

const noReason: RejectionReason = { why: null, until: null };

/** Why a call has this outcome: a reached limit, the end of its key, or the cause of a 403. Only the facts of a key give a reason. */
function rejectionReason(sandbox: SandboxState, call: RoutedCall, outcome: ApiOutcomeId): RejectionReason {
  const { entry, now } = call;
  if (entry === undefined) return noReason;
  if (outcome === "429.per_minute") return reasonOfLimit(entry, now, "minute");
  if (outcome === "429.per_day") return reasonOfLimit(entry, now, "day");

  // A 401 of a key that has ended.
  const state = keyStateAt(entry.key, now);
  if (keyStateTable[state].rejection === outcome) {
    return { why: `${state} since ${shortIso(endTime(entry.key))}`, until: null };
  }

  // A 403 has a cause that may be shown; any other rejection has none.
  return { why: publicCause(sandbox, call, outcome)?.why ?? null, until: null };
}

/** Why a key gets a 429, which lasts until its limit resets, or as long as the key works. */
function reasonOfLimit(entry: KeyEntry, now: number, name: "minute" | "day"): RejectionReason {
  const { quota, resetsAt } = limitUses(entry, now)[name];
  if (quota === 0) return { why: `always: allows 0 requests a ${name}`, until: null };

  // The key may have ended by then.
  const stateAtReset = keyStateAt(entry.key, resetsAt);
  if (stateAtReset === "rotated") return { why: "the key's overlap ends first", until: null };
  if (keyStateTable[stateAtReset].isOver) return { why: "the key expires first", until: null };

  // `until 09:01:00`, with the date if it is another day. Rounded up: a request before the limit resets would be rejected again.
  let end = shortIso(Math.ceil(resetsAt / 1000) * 1000);
  const startOfToday = shortIso(now).slice(0, "2026-03-01T".length);
  if (end.startsWith(startOfToday)) end = end.slice(startOfToday.length, -1);
  return { why: `until ${end}`, until: isoTime(resetsAt) };
}

/** ISO 8601 without milliseconds. */
function shortIso(instant: number): string {
  return isoTime(instant).replace(/(?:\.\d+)?Z$/, "Z");
}

/** What to do about an outcome. `next`: why the next request would get the same one; `undefined` if it would get another one. */
export function whatToDoAbout(outcome: OutcomeId, next: RejectionReason | undefined): string {
  const { status, whatToDo } = outcomeRow(outcome);
  if (status === 429 && next !== undefined && next.until === null) {
    return `Create a new key: waiting does not help (${next.why}).`;
  }
  return whatToDo;
}
