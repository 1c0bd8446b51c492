import { SandboxError } from "../domain/errors.js";
import { redactKeys } from "../domain/redact.js";
import type { Finding } from "./finding.js";

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
