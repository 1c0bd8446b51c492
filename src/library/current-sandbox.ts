import type { Runtime } from "../sandbox/runtime.js";
import { SandboxError } from "../spec/errors.js";
import type { Sandbox } from "./sandbox.js";

/** Passes the current sandbox through asynchronous calls, like Node's `AsyncLocalStorage`. */
interface CurrentSandboxes {
  readonly getStore: () => Sandbox | undefined;
  readonly run: <Result>(sandbox: Sandbox, work: () => Result) => Result;
}

// Registered globally: handlers may load the CommonJS build or another copy of this package.
const key = Symbol.for("svc-sandbox.current");
const shared = globalThis as unknown as Record<symbol, CurrentSandboxes | undefined>;

/** Returns the storage where servers put the sandbox before they call handlers; made with the first call. */
export function currentSandboxes(make: () => CurrentSandboxes): CurrentSandboxes {
  shared[key] ??= make();
  return shared[key];
}

/** Returns the sandbox of the server whose handler is running. Throws `usage` elsewhere. */
export function currentSandbox(): Sandbox {
  const sandbox = shared[key]?.getStore();
  if (sandbox !== undefined) return sandbox;
  throw new SandboxError("usage", "guard needs a sandbox: guard(request, { scope, sandbox }).");
}

/**
 * The member with the runtime of a sandbox. Registered globally, so that the ES module build and the CommonJS build accept
 * each other's sandboxes.
 */
export const runtimeKey = Symbol.for("svc-sandbox.runtime");

/** Returns the runtime of a sandbox. Throws `usage` for anything not made by `createSandbox` or `startServer`. */
export function runtimeOf(sandbox: Sandbox): Runtime {
  const runtime = (sandbox as unknown as Record<symbol, Runtime | undefined>)[runtimeKey];
  if (runtime !== undefined) return runtime;
  throw new SandboxError("usage", "This is not a sandbox. Create one with createSandbox or startServer.");
}
