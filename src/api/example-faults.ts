import { type FaultOutcomeId, faultKindRow } from "../rules/fault-effects.js";
import type { Fault } from "../sandbox/active-faults.js";

/** The effect of a fault, as its example has it: a status with the error body of the API, or as a gateway's page. */
export function exampleOfFault(
  fault: FaultOutcomeId,
  { asPage }: { readonly asPage: boolean },
): Fault["then"] {
  const { example } = faultKindRow(fault);
  // Other faults have no body of their own.
  if (fault === "fault.status" && asPage) return { ...example, body: "html" };
  return example;
}
