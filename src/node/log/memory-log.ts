import { handle } from "../../api/handle.js";
import type { Runtime } from "../../sandbox/runtime.js";
import { nodePlatform } from "../platform.js";
import { createEventIds } from "./event-ids.js";
import {
  createInstances,
  defaultInstanceTtl,
  defaultMaxInstances,
  type InstanceLimits,
  newInstanceId,
} from "./instances.js";
import type { Caller, ControlPlace, Log } from "./log.js";

interface MemoryLogOptions extends InstanceLimits {
  /** Default: ids from 1 on. */
  readonly eventIds?: Log["eventIds"];
}

/** Makes the log of a server on its own, which lasts as long as the process. */
export function createMemoryLog(runtime: Runtime, options: MemoryLogOptions = {}): Log {
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  const { eventIds = createEventIds().of } = options;
  const instances = createInstances({
    most: maxInstances,
    server: runtime,
    platform: nodePlatform,
    newId: newInstanceId,
  });
  const placeOf = ({ runtime: here, instance, baseUrl }: Caller): ControlPlace => ({
    runtime: here,
    instances: instance === undefined ? instances : undefined,
    isGone: false,
    baseUrl,
  });
  return {
    runtime,
    instances,
    enter: instances.use,
    mayPreview: ({ preview }) => preview,
    request: (request, { runtime: here }) => handle(here.world(), request),
    countUnread: ({ runtime: here }) => here.counters.countUnread(),
    call: (_call, run, from) => run(placeOf(from)),
    look: (read, from) => read(placeOf(from)),
    eventIds,
    isOwn: () => true,
    settle() {
      instances.sweep(instanceTtl);
      for (const one of [runtime, ...instances.list().map((instance) => instance.runtime)]) {
        try {
          one.world();
        } catch {
          // The next request reports it; a failure to save is tried again, and reported there.
        }
      }
    },
    begin() {},
    status: () => undefined,
    close() {},
  };
}
