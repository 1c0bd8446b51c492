import type { Sandbox } from "../../src/index.js";
import { sandboxApi, stateOf } from "../../src/library/sandbox-api.js";
import { nodePlatform } from "../../src/node/platform.js";
import { runDue } from "../../src/sandbox/operations/operations.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { type SavedSandbox, saveSandbox } from "../../src/sandbox/saved-sandbox.js";
import { continueSandbox } from "../../src/sandbox/start-sandbox.js";

export const savedOf = (sandbox: SandboxState): SavedSandbox =>
  JSON.parse([...saveSandbox(sandbox)].join(""));

/** The sandbox that a saved one continues as. */
export const continuedSandbox = (saved: SavedSandbox, platform = nodePlatform): SandboxState =>
  continueSandbox(saved, { platform });

/** What a state file would have of a sandbox now. */
export function snapshot(sandbox: Sandbox): SavedSandbox {
  const state = stateOf(sandbox);
  runDue(state);
  return savedOf(state);
}

/** The sandbox as another process would continue it now. */
export function continued(sandbox: Sandbox): Sandbox {
  const { invocation } = stateOf(sandbox);
  const state = continueSandbox(snapshot(sandbox), { platform: nodePlatform, invocation });
  return sandboxApi(() => state);
}
