import { SandboxError } from "../domain/sandbox-error.js";
import type { Sandbox } from "./sandbox.js";

// Registered, so that the handlers of a CommonJS module find the sandbox of a server that is an ES module.
const key = Symbol.for("svc-sandbox.current");
const shared = globalThis as unknown as Record<symbol, (() => Sandbox | undefined) | undefined>;

/** Says how to find the sandbox on whose behalf code runs right now; a server does so for the handlers that it calls. */
export function provideCurrentSandbox(find: () => Sandbox | undefined): void {
  shared[key] = find;
}

/** The sandbox on whose behalf this code runs; throws `usage` outside of a server's handlers. */
export function currentSandbox(): Sandbox {
  const sandbox = shared[key]?.();
  if (sandbox !== undefined) return sandbox;
  throw new SandboxError(
    "usage",
    "Failed to guard the request: it is not clear for which sandbox. Pass it: guard(request, { scope, sandbox }).",
  );
}
