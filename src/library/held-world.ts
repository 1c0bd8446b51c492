import { SandboxError } from "../domain/sandbox-error.js";
import type { World } from "../sandbox/world.js";
import type { Sandbox } from "./sandbox.js";

// Registered, so that a sandbox made by the ES module build is understood by the CommonJS one and the other way round.
const holding = Symbol.for("svc-sandbox.world");

/** Lets a sandbox be asked for its world, which changes with every reset. */
export function holdWorld<Held extends Sandbox>(sandbox: Held, world: () => World): Held {
  return Object.defineProperty(sandbox, holding, { value: world, enumerable: false });
}

/** The world of a sandbox as it is now; throws `usage` for anything that `createSandbox` did not make. */
export function worldOf(sandbox: Sandbox): World {
  const world = (sandbox as unknown as Record<symbol, (() => World) | undefined>)[holding];
  if (world !== undefined) return world();
  throw new SandboxError("usage", "Failed to use the sandbox: it was not made by createSandbox.");
}
