import { SandboxError } from "../domain/sandbox-error.js";
import type { Host } from "../sandbox/host.js";
import type { Sandbox } from "./sandbox.js";

// Registered, so that a sandbox made by the ES module build is understood by the CommonJS one and the other way round.
const holding = Symbol.for("svc-sandbox.host");

/** Lets a sandbox be asked for the host of its world. */
export function attachHost<Held extends Sandbox>(sandbox: Held, host: Host): Held {
  return Object.defineProperty(sandbox, holding, { value: host, enumerable: false });
}

/** The host of a sandbox; throws `usage` for anything that `createSandbox` or `startServer` did not make. */
export function hostOf(sandbox: Sandbox): Host {
  const host = (sandbox as unknown as Record<symbol, Host | undefined>)[holding];
  if (host !== undefined) return host;
  throw new SandboxError(
    "usage",
    "Failed to use the sandbox: it was made neither by createSandbox nor by startServer.",
  );
}
