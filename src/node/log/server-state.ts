import type { Runtime } from "../../sandbox/runtime.js";
import { describeRuntime, type RuntimeState } from "../../sandbox/state.js";
import type { InstanceState, Instances } from "./instances.js";

/** A server's own sandbox and its instances as plain data. */
export interface ServerState {
  /** The last series of request ids. */
  readonly idSeries: number;
  readonly own: RuntimeState;
  readonly instances: readonly InstanceState[];
}

/** Describes a server; `describe` describes each of its sandboxes. */
export function describeServer(
  runtime: Runtime,
  instances: Instances,
  describe: (runtime: Runtime) => RuntimeState = describeRuntime,
): ServerState {
  const now = runtime.world().platform.stopwatch();
  return {
    idSeries: runtime.idSeries.last,
    own: describe(runtime),
    instances: instances.list().map(({ id, label, createdAt, usedAt, runtime: inside }) => ({
      ...{ id, label, createdAt, idle: now - usedAt, given: inside.given },
      runtime: describe(inside),
    })),
  };
}
