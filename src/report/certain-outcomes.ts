import { faultFacts } from "../api/fault-facts.js";
import { type FaultOutcomeId, faultKindRow, faultOutcomeId } from "../rules/fault-effects.js";
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
  /** Default: the request reaches no endpoint, or is rejected before its endpoint matters. */
  readonly endpoint?: Endpoint;
}

/** The outcomes that a request covers for certain, whatever the active faults do. */
export function certainOutcomes(sandbox: SandboxState, expected: ExpectedRequest): OutcomeId[] {
  const { outcome } = expected;
  const { mayFireFirst, certain } = faultsAhead(sandbox, expected);

  // If a fault may replace the response, the outcome depends on chance or on a count.
  if (mayFireFirst.some((fault) => !faultKindRow(fault).onlyDelays)) return [];
  // If no fault is certain to fire, the response has its outcome: a fault that may fire only delays the response.
  if (certain === undefined) return [outcome];

  const isCertainFaultFirst = mayFireFirst.length === 0;
  if (faultKindRow(certain).onlyDelays) return isCertainFaultFirst ? [outcome, certain] : [outcome];
  // The certain fault replaces the response, but a delay may fire in its place.
  return isCertainFaultFirst ? [certain] : [];
}

/** The faults that can hit a request. Of several, the first that fires hits it. */
interface FaultsAhead {
  /** The first fault that is certain to fire, if there is one. */
  readonly certain: FaultOutcomeId | undefined;
  /** The faults in front of the certain one: each may fire, and then hits the request in place of the certain one. */
  readonly mayFireFirst: readonly FaultOutcomeId[];
}

function faultsAhead(sandbox: SandboxState, { outcome, entry, endpoint }: ExpectedRequest): FaultsAhead {
  const call = { entry, endpoint, now: sandbox.clock.now() };
  const facts = faultFacts(call, endpoint?.method, () => outcome);

  const mayFireFirst: FaultOutcomeId[] = [];
  for (const fault of sandbox.faults) {
    const ahead = effectAhead(fault, facts);
    if (ahead === undefined) continue;
    const faultOutcome = faultOutcomeId(ahead.effect);
    if (ahead.isCertain) return { certain: faultOutcome, mayFireFirst };
    mayFireFirst.push(faultOutcome);
  }
  return { certain: undefined, mayFireFirst };
}
