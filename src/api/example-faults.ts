import { type FaultOutcomeId, faultKindRow } from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import { randomStream } from "../rules/seed.js";
import type { Fault } from "../sandbox/active-faults.js";

/** Returns a fault of one kind for the first request that would end on each outcome. */
export function faultsOn(outcomes: readonly OutcomeId[], fault: FaultOutcomeId): Fault[] {
  const faults: Fault[] = [];
  for (const outcome of outcomes) {
    const then = exampleOfFault(fault, sendsPage(outcome) ? "html" : "json");
    const ofApi = outcome as ApiOutcomeId; // a fault is on no other outcome
    faults.push({ when: { outcome: ofApi, requests: [1] }, then });
  }
  return faults;
}

/** Whether the status of a fault on an outcome comes with a gateway's page: on about half of the outcomes. */
function sendsPage(outcome: OutcomeId): boolean {
  return randomStream(0, "fault.page", outcome)() % 2 === 1;
}

/** The effect of a fault, as its example has it. A status comes with this body: a gateway's page, or the error body of the API. */
export function exampleOfFault(fault: FaultOutcomeId, body: "html" | "json"): Fault["then"] {
  const { example } = faultKindRow(fault);
  if (fault === "fault.status" && body === "html") return { ...example, body };
  return example;
}
