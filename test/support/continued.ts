import { nodePlatform } from "../../src/node/platform.js";
import type { SandboxState } from "../../src/sandbox/sandbox-state.js";
import { type SavedSandbox, saveSandbox } from "../../src/sandbox/saved-sandbox.js";
import { checkedStart, startSandbox } from "../../src/sandbox/start-sandbox.js";

export const savedOf = (sandbox: SandboxState): SavedSandbox =>
  JSON.parse([...saveSandbox(sandbox)].join(""));

/** The sandbox that a saved one continues as. */
export const continuedSandbox = (saved: SavedSandbox, platform = nodePlatform): SandboxState =>
  startSandbox(checkedStart({ ...saved, saved }, {}, { platform }));
