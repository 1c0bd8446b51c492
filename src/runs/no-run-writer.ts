import type { SandboxRun } from "./run-writer.js";

// Pages have this in place of `run-writer.ts`: they belong to no run.

const noRun = (): SandboxRun | undefined => undefined;

export { noRun as currentRun };
