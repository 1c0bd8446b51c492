import { redactKeys } from "../domain/api-key.js";
import { SandboxError } from "../domain/sandbox-error.js";
import { shapeFindings } from "./check-shape.js";
import type { FaultFields } from "./fault-rules.js";
import { faultsSchema } from "./fault-schema.js";
import type { Finding } from "./finding.js";

/** A copy of the faults, if each is one by its shape; throws {@link faultsRefused}. */
export function checkFaults(value: unknown): FaultFields[] {
  const checked = faultsSchema.safeParse(value);
  if (checked.success) return checked.data as FaultFields[];
  throw faultsRefused(shapeFindings(checked.error.issues, { faults: value ?? null }, ["faults"]));
}

/** The refusal of faults, `validation_failed`, with what is wrong with each field in `details.fields`. */
export function faultsRefused(findings: readonly Finding[]): SandboxError {
  const problems = findings.map(({ path, message, hint }) => [
    redactKeys(path.join(".")),
    redactKeys(hint === undefined ? message : `${message}: ${hint}`),
  ]);
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  return new SandboxError("validation_failed", `Failed to change the faults: ${problems[0]?.[1]}${more}.`, {
    fields: Object.fromEntries(problems),
  });
}
