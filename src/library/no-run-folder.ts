import type { SandboxRun } from "./run-folder.js";

// Pages have this in place of `run-folder.ts`: they belong to no run.

const noRun = (): SandboxRun | undefined => undefined;

export { noRun as currentRun };
