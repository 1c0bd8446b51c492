import { defaultInstanceTtl, defaultMaxInstances } from "../control/instances.js";
import { runCall } from "../control/run-call.js";
import { createReplica, type Replica, type ReplicaOptions } from "./replica.js";

type OpenReplicaOptions = Omit<ReplicaOptions, "runCall" | "maxInstances" | "instanceTtl"> &
  Partial<Pick<ReplicaOptions, "maxInstances" | "instanceTtl">>;

/**
 * Makes this process a replica that follows a log; resolves once it has everything that was stored. `serveRuntime` serves
 * its runtime with it.
 *
 * All replicas of a log have to have the same version, scenario, `given` and `maxInstances`: that is for the founding.
 */
export async function openReplica(options: OpenReplicaOptions): Promise<Replica> {
  return createReplica({
    maxInstances: defaultMaxInstances,
    instanceTtl: defaultInstanceTtl,
    ...options,
    runCall,
  });
}
