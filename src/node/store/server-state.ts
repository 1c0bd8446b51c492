import type { Runtime } from "../../sandbox/runtime.js";
import { describeRuntime, type RuntimeState } from "../../sandbox/state.js";
import type { InstanceState, Instances } from "../control/instances.js";

/** A server's own sandbox and its instances as plain data. */
export interface ServerState {
  /** The last series of request ids. */
  readonly idSeries: number;
  readonly own: RuntimeState;
  readonly instances: readonly InstanceState[];
}

export function describeServer(runtime: Runtime, instances: Instances): ServerState {
  return {
    idSeries: runtime.idSeries.last,
    own: describeRuntime(runtime),
    instances: instances.describe(),
  };
}
