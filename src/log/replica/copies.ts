import type { GivenOptions, Runtime } from "../../world/runtime.js";
import { describeRuntime, restoreRuntime } from "../../world/state.js";
import { contentHashOf, extendState } from "../extend-state.js";
import { createRegistry, type Registered, type Registry, type RegistryState } from "./registry.js";
import { type Copy, createCopy, type RunCall, type SandboxState } from "./sandbox-copy.js";

export interface ServerCopyOptions {
  readonly given: GivenOptions;
  readonly maxInstances: number;
  readonly runCall: RunCall;
  /** Called with each removed instance. */
  readonly onGone: (id: string) => void;
}

/** A server's own sandbox and the list of its instances as plain data. */
interface ServerCopyState extends SandboxState, RegistryState {
  /** The last series of request ids. */
  readonly idSeries: number;
}

/** Creates a copy of a server's own sandbox, with the list of its instances. */
export function copyServer({ given, maxInstances, runCall, onGone }: ServerCopyOptions): {
  readonly copy: Copy;
  readonly registry: Registry;
} {
  let registry: Registry | undefined;
  const copy = createCopy<ServerCopyState>(runCall, (copyPlatform) => {
    const { platform } = copyPlatform;
    let runtime: Runtime | undefined;
    const server = () => runtime as Runtime;
    const instances = createRegistry({ ...copyPlatform, most: maxInstances, server, onGone });
    registry = instances;
    return {
      runtime: server,
      restore({ own, idSeries, ...listed }) {
        runtime = restoreRuntime(own, platform, { given }, runtime);
        runtime.idSeries.last = idSeries;
        instances.restore(listed);
      },
      describe: () => ({
        own: describeRuntime(server()),
        idSeries: server().idSeries.last,
        ...instances.describe(),
      }),
      instances: instances.list,
      applyServer(content) {
        if (content.kind !== "extend") return instances.apply(content);
        const state = describeRuntime(server());
        // A scenario that was loaded at run time stays.
        if (contentHashOf(state) !== content.from) return { state, changes: [] };
        const extended = extendState(state, content);
        if (typeof extended !== "string") {
          runtime = restoreRuntime(extended.state, platform, { given }, runtime);
        }
        return extended;
      },
    };
  });
  return { copy, registry: registry as Registry };
}

/** Creates a copy of an instance's sandbox. */
export function copyInstance({ given, idGroup }: Registered, runCall: RunCall): Copy {
  return createCopy(runCall, ({ platform }) => {
    let runtime: Runtime | undefined;
    return {
      runtime: () => runtime as Runtime,
      restore({ own }) {
        runtime = restoreRuntime(own, platform, { given, idGroup }, runtime);
        runtime.idSeries.last = runtime.world().requestIds.series();
        // The description does not contain earlier requests.
        runtime.history.keep(Number.POSITIVE_INFINITY);
      },
      describe: () => ({ own: describeRuntime(runtime as Runtime) }),
    };
  });
}
