import { faultFacts } from "../api/fault-facts.js";
import { faultKindRow, faultOutcomeId } from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import type { Endpoint } from "../sandbox/endpoint.js";
import { effectAhead } from "../sandbox/fire-faults.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { RequestToSend } from "./curl-line.js";

/** A request that a user can send, and the outcome that it has without faults. */
export interface ExpectedRequest {
  readonly sent: RequestToSend;
  readonly outcome: ApiOutcomeId;
  /** Its key. Default: none of the sandbox. */
  readonly entry?: KeyEntry;
  /** Default: that of a request which reaches none, or is rejected before one matters. */
  readonly endpoint?: Endpoint;
}

/**
 * The outcomes that a request covers for certain, whatever the active faults do. A delayed request has two, its own and that of
 * the fault; a request whose response a fault may replace, or not, has none.
 */
export function certainOutcomes(sandbox: SandboxState, expected: ExpectedRequest): OutcomeId[] {
  const { outcome, entry, endpoint } = expected;
  const call = { entry, endpoint, now: sandbox.clock.now() };
  const facts = faultFacts(call, endpoint?.method, () => outcome);

  // Of several faults, the first that fires hits the request.
  let mayBeDelayed = false;
  for (const fault of sandbox.faults) {
    const ahead = effectAhead(fault, facts);
    if (ahead === undefined) continue;
    const faultOutcome = faultOutcomeId(ahead.effect);
    const { onlyDelays } = faultKindRow(faultOutcome);

    if (ahead.isCertain) {
      // It hits the request, unless a fault before it delays the request.
      if (mayBeDelayed) return onlyDelays ? [outcome] : [];
      return onlyDelays ? [outcome, faultOutcome] : [faultOutcome];
    }
    if (!onlyDelays) return [];
    mayBeDelayed = true;
  }
  return [outcome];
}
