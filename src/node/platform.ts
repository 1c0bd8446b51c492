import { endpointsIn, routesOf } from "../api/endpoints.js";
import { makeFarmers } from "../farmers/make-farmers.js";
import { realTime } from "../library/web-platform.js";
import type { Platform } from "../sandbox/platform.js";
import type { ConditionedRun, SandboxState, StartOptions } from "../sandbox/sandbox-state.js";
import { prepareStart, type ScenarioToStart, startSandbox } from "../sandbox/start-sandbox.js";

/** `node:crypto`; an import of it would be slower. */
export const nodeCrypto = process.getBuiltinModule("node:crypto");

const { createHash, hash, randomBytes } = nodeCrypto;

/** The fastest function for a hash in hex: the one-shot `hash`, in hex by default, is twice as fast; other runtimes may not have it. */
const sha256: Platform["sha256"] =
  typeof hash === "function"
    ? (hash.bind(undefined, "sha256") as Platform["sha256"])
    : (text) => createHash("sha256").update(text).digest("hex");

const nodeTimers = process.getBuiltinModule("node:timers");
const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = nodeTimers;

/** Node's own timers, saved now: in jsdom the global ones have no `unref`, and fake ones would stop. */
export const timers = {
  clearInterval,
  clearTimeout,
  nextTick: process.nextTick,
  setImmediate,
  setInterval,
  setTimeout,
};

/** Milliseconds: Node fires longer timers immediately. */
export const longestTimer = 2 ** 31 - 1;

/** What sandboxes of this program get from outside; `webPlatform` has the same parts for `createSandbox`. */
export const nodePlatform: Platform = {
  ...realTime,
  sha256,
  // Wrapped, so that CommonJS loads the module with the first call.
  farmers: (settings) => makeFarmers(settings),
  endpoints: endpointsIn,
  routes: routesOf,
  random: () => randomBytes(4).readUInt32LE(),
};

/** Starts a sandbox with a scenario, on this machine's time, randomness and hashes. */
export function startInNode(
  source: ScenarioToStart,
  options: StartOptions = {},
  clientRun?: ConditionedRun,
): SandboxState {
  return startSandbox(prepareStart({ source, options, platform: nodePlatform, clientRun }));
}
