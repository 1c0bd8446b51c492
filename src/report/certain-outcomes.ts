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
  /** Default: that of a request which reaches none, or is rejected before one matters. */
  readonly endpoint?: Endpoint;
}

/** The outcomes that a request covers for certain, whatever the active faults do. */
export function certainOutcomes(sandbox: SandboxState, expected: ExpectedRequest): OutcomeId[] {
  const { outcome } = expected;
  const { before, certain } = faultsAhead(sandbox, expected);

  // A fault that may come, and replaces the response: the outcome depends on chance or on a count.
  if (before.some((fault) => !faultKindRow(fault).onlyDelays)) return [];
  // None is certain to come: `latency` with a probability leaves the outcome as it is.
  if (certain === undefined) return [outcome];
  // One is certain to replace the response, unless a fault before it delays the request: then both may come.
  if (!faultKindRow(certain).onlyDelays) return before.length === 0 ? [certain] : [];
  // One is certain to delay the request, unless a fault before it does.
  return before.length === 0 ? [outcome, certain] : [outcome];
}

/** The faults that can hit a request. Of several, the first that fires hits it. */
interface FaultsAhead {
  /** The first fault that is certain to fire, if there is one. */
  readonly certain: FaultOutcomeId | undefined;
  /** The faults before it, which may fire. */
  readonly before: readonly FaultOutcomeId[];
}

function faultsAhead(sandbox: SandboxState, { outcome, entry, endpoint }: ExpectedRequest): FaultsAhead {
  const call = { entry, endpoint, now: sandbox.clock.now() };
  const facts = faultFacts(call, endpoint?.method, () => outcome);

  const before: FaultOutcomeId[] = [];
  for (const fault of sandbox.faults) {
    const ahead = effectAhead(fault, facts);
    if (ahead === undefined) continue;
    const faultOutcome = faultOutcomeId(ahead.effect);
    if (ahead.isCertain) return { certain: faultOutcome, before };
    before.push(faultOutcome);
  }
  return { certain: undefined, before };
}
