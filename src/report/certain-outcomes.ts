import { faultKindRow } from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import type { Endpoint } from "../sandbox/call.js";
import { faultsAhead } from "../sandbox/faults.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { RequestToSend } from "./curl-line.js";

/** A request that a user can send, and the outcome that it has without faults. */
export interface ExpectedRequest {
  readonly request: RequestToSend;
  readonly outcome: ApiOutcomeId;
  /** Its key. Default: none of the sandbox. */
  readonly entry?: KeyEntry;
  /** Default: the request reaches no endpoint, or is rejected before its endpoint matters. */
  readonly endpoint?: Endpoint;
}

/**
 * The outcomes that a request covers for certain, whatever the active faults do. A latency on every second request leaves its 200
 * certain, a reset on every second one leaves nothing certain. A latency on every request makes both 200 and the latency certain.
 */
export function certainOutcomes(sandbox: SandboxState, expected: ExpectedRequest): OutcomeId[] {
  const { outcome, entry, endpoint } = expected;
  const call = { entry, endpoint, now: sandbox.clock.now() };
  const faults = faultsAhead(sandbox.faults, call, endpoint?.method, outcome);

  const certain: OutcomeId[] = [];
  // A delayed response keeps its outcome; any other fault replaces the response.
  const isOutcomeKept = faults.every((fault) => faultKindRow(fault.outcome).onlyDelays);
  if (isOutcomeKept) certain.push(outcome);

  // Some fault hits the request for certain, and whichever it is, it has this outcome.
  const [firstFault] = faults;
  if (firstFault === undefined) return certain;
  const isFaultCertain = faults.some((fault) => fault.isCertain);
  const areAllAlike = faults.every((fault) => fault.outcome === firstFault.outcome);
  if (isFaultCertain && areAllAlike) certain.push(firstFault.outcome);
  return certain;
}
