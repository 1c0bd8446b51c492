import type { SandboxRun } from "./run-folder.js";

// Pages have this in place of `run-folder.ts`: they have no folder of a run.

export function currentRun(): SandboxRun | undefined {
  return undefined;
}
