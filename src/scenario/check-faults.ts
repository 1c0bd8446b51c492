import { shapeFindings } from "./check-shape.js";
import type { FaultFields } from "./fault-rules.js";
import { faultsSchema } from "./fault-schema.js";
import { faultsRefused } from "./faults-refused.js";

/** A copy of the faults, if each is one by its shape; throws {@link faultsRefused}. */
export function checkFaults(value: unknown): FaultFields[] {
  const checked = faultsSchema.safeParse(value);
  if (checked.success) return checked.data as FaultFields[];
  throw faultsRefused(shapeFindings(checked.error.issues, { faults: value ?? null }, ["faults"]));
}
