import { faultsAhead } from "../api/fault-facts.js";
import { faultKindRow } from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import type { Endpoint } from "../sandbox/endpoint.js";
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
 * The outcomes that a request covers for certain, whatever the active faults do: those that each response covers which it may get.
 * With a latency on every second request, it gets 200 or 200 late, and so covers 200; with a reset on every second one, nothing.
 */
export function certainOutcomes(sandbox: SandboxState, expected: ExpectedRequest): OutcomeId[] {
  const { outcome, entry, endpoint } = expected;
  const call = { entry, endpoint, now: sandbox.clock.now() };
  const faults = faultsAhead(sandbox, call, endpoint?.method, outcome);

  // What each response covers that the request may get.
  const possible: OutcomeId[][] = [];
  for (const fault of faults) {
    // A delayed response keeps its outcome; any other fault replaces the response.
    const { onlyDelays } = faultKindRow(fault.outcome);
    possible.push(onlyDelays ? [outcome, fault.outcome] : [fault.outcome]);
  }
  const isFaultCertain = faults.some((fault) => fault.isCertain);
  if (!isFaultCertain) possible.push([outcome]);

  const [first = [], ...others] = possible;
  return first.filter((covered) => others.every((outcomes) => outcomes.includes(covered)));
}
