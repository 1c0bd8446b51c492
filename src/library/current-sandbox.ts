import { SandboxError } from "../domain/sandbox-error.js";
import type { Sandbox } from "./sandbox.js";

/** Knows on whose behalf code runs, however many steps it waits; Node's `AsyncLocalStorage` is one. */
export interface CurrentSandboxes {
  readonly getStore: () => Sandbox | undefined;
  readonly run: <Result>(sandbox: Sandbox, work: () => Result) => Result;
}

// Registered, and one for all: the handlers may have loaded this package as a CommonJS module, or another copy of it,
// and every server of the process has to be found from there.
const key = Symbol.for("svc-sandbox.current");
const shared = globalThis as unknown as Record<symbol, CurrentSandboxes | undefined>;

/** Where servers say on whose behalf they call handlers; made by the first one that asks. */
export function currentSandboxes(make: () => CurrentSandboxes): CurrentSandboxes {
  shared[key] ??= make();
  return shared[key];
}

/** The sandbox on whose behalf this code runs; throws `usage` outside of a server's handlers. */
export function currentSandbox(): Sandbox {
  const sandbox = shared[key]?.getStore();
  if (sandbox !== undefined) return sandbox;
  throw new SandboxError(
    "usage",
    "Failed to guard the request: it is not clear for which sandbox. Pass it: guard(request, { scope, sandbox }).",
  );
}
