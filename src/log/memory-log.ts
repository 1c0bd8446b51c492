import { nodePlatform } from "../node/platform.js";
import type { Exchange } from "../sandbox/history/exchange.js";
import type { Runtime } from "../sandbox/runtime.js";
import { applyEntry } from "./entries.js";
import { createEventIds } from "./event-ids.js";
import {
  createInstances,
  defaultInstanceTtl,
  defaultMaxInstances,
  describeServer,
  type InstanceLimits,
  type MemoryInstances,
  newInstanceId,
  runtimesOf,
} from "./instances.js";
import { type Log, placeOf } from "./log.js";
import { createMemoryBudget } from "./memory-budget.js";

interface MemoryLogOptions extends InstanceLimits {
  /** Default: ids start with 1. */
  readonly eventIds?: Log["eventIds"];
}

/** A log whose sandboxes are all in this process. */
export interface MemoryLog extends Log {
  readonly instances: MemoryInstances;
}

/** Creates the log of a single server. It ends with the process. */
export function createMemoryLog(runtime: Runtime, options: MemoryLogOptions = {}): MemoryLog {
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  const { eventIds = createEventIds().of } = options;
  const instances = createInstances({
    ...{ most: maxInstances, server: runtime, platform: nodePlatform, newId: newInstanceId },
    requireRoom: () => budget.requireRoom(),
  });
  const budget = createMemoryBudget(options.maxMemory, instances.discardJournals);
  return {
    runtime,
    instances,
    enter: instances.use,
    mayPreview: ({ preview }) => preview,
    request: (request, { runtime: here }) => applyEntry({ kind: "request", request }, here) as Exchange,
    countUnread: ({ runtime: here }, id) => void applyEntry({ kind: "unread", id }, here),
    call: (call, run, from) =>
      applyEntry({ kind: "call", call }, from.runtime, () => run(placeOf(from, instances))),
    manage: (run, from) => run(placeOf(from, instances)),
    look: (read, from) => applyEntry({ kind: "look" }, from.runtime, () => read(placeOf(from, instances))),
    describe: () => describeServer({ runtime, instances }),
    eventIds,
    isOwn: () => true,
    settle() {
      instances.sweep(instanceTtl);
      budget.settle();
      for (const one of runtimesOf({ runtime, instances })) {
        try {
          one.world();
        } catch {
          // The next request reports the error. A failed save is retried and reported there.
        }
      }
    },
    begin() {},
    status: () => undefined,
    memory: budget.status,
    close() {},
  };
}
