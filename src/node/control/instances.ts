// Node's own: in jsdom the global one gives a number, which has no `unref`.
import { clearInterval, setInterval } from "node:timers";
import { SandboxError } from "../../domain/errors.js";
import { base62From } from "../../domain/seed.js";
import type { Counters } from "../../sandbox/counters.js";
import { createRuntime, type GivenOptions, type Runtime } from "../../sandbox/runtime.js";
import type { World } from "../../sandbox/world.js";
import { nodePlatform } from "../platform.js";

/** An isolated sandbox inside the process, served under `/i/{id}`. */
export interface Instance {
  readonly id: string;
  /** Its base URL. */
  readonly url: string;
  readonly runtime: Runtime;
  /** Aborted when it is removed or the server stops. */
  readonly gone: AbortSignal;
}

/** The instances of a server. */
export interface Instances {
  /** Starts one; what is `given` (default: nothing) holds for every scenario that is started there. */
  readonly create: (start: () => World, given?: GivenOptions) => Instance;
  readonly list: () => Instance[];
  /** The instance of an id, which counts as a use of it; `undefined` when there is none. */
  readonly find: (id: string) => Instance | undefined;
  /** Throws `not_found`. */
  readonly remove: (id: string) => void;
  readonly close: () => void;
}

interface InstancesOptions {
  /** The base URL of the server. */
  readonly serverUrl: () => string;
  /** Milliseconds without a request after which an instance goes. */
  readonly ttl: number;
  /** The counters that count their requests, too: a client's coverage outlives its instance. */
  readonly counters: Counters;
}

/** The default time that an idle instance stays: an hour. */
export const defaultInstanceTtl = 60 * 60_000;

/** Makes the place where instances live; idle ones go by themselves. */
export function createInstances({ serverUrl, ttl, counters }: InstancesOptions): Instances {
  const instances = new Map<string, Instance & { usedAt: number; readonly end: () => void }>();
  const discard = (id: string): boolean => {
    instances.get(id)?.end();
    return instances.delete(id);
  };
  const sweep = () => {
    const oldest = performance.now() - ttl;
    for (const [id, { usedAt }] of instances) if (usedAt <= oldest) discard(id);
  };
  // Half the time to live is often enough, and 30 seconds are; the timer holds no process up.
  const timer = setInterval(sweep, Math.max(10, Math.min(ttl / 2, 30_000)));
  timer.unref();

  return {
    create(start, given = {}) {
      const ending = new AbortController();
      const id = base62From(nodePlatform.random, 12);
      const instance = {
        id,
        url: `${serverUrl()}/i/${id}`,
        runtime: createRuntime(start, { given }),
        gone: ending.signal,
        end: () => ending.abort(),
        usedAt: performance.now(),
      };
      instance.runtime.counters.passOnTo(counters);
      instance.runtime.counters.curlOptions = counters.curlOptions;
      instances.set(id, instance);
      return instance;
    },
    list: () => [...instances.values()],
    find(id) {
      const instance = instances.get(id);
      if (instance !== undefined) instance.usedAt = performance.now();
      return instance;
    },
    remove(id) {
      if (discard(id)) return;
      throw new SandboxError(
        "not_found",
        `There is no instance ${JSON.stringify(id)}; it may have been idle for too long.`,
      );
    },
    close() {
      clearInterval(timer);
      for (const id of instances.keys()) discard(id);
    },
  };
}
