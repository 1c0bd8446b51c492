import { type FaultOutcomeId, faultKindRow } from "../rules/fault-effects.js";
import type { Fault } from "../sandbox/active-faults.js";

/** The effect of a fault, as its example has it. A status comes with this body: a gateway's page, or the error body of the API. */
export function exampleOfFault(fault: FaultOutcomeId, body: "html" | "json"): Fault["then"] {
  const { example } = faultKindRow(fault);
  if (fault === "fault.status" && body === "html") return { ...example, body };
  return example;
}
