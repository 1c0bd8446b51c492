import { SandboxError } from "../../domain/errors.js";
import { base62From } from "../../domain/seed.js";
import { createRuntime, type GivenOptions, type Runtime } from "../../sandbox/runtime.js";
import type { World } from "../../sandbox/world.js";
import { clearInterval, nodePlatform, setInterval } from "../platform.js";

/** An isolated sandbox inside the process, served under `/i/{id}`. */
export interface Instance {
  readonly id: string;
  /** What it was called when it was made, such as the name of a test. */
  readonly label: string | undefined;
  /** On the wall clock (epoch milliseconds). */
  readonly createdAt: number;
  readonly runtime: Runtime;
  /** Aborted when it is removed or the server stops. */
  readonly gone: AbortSignal;
}

/** The instances of a server. */
export interface Instances {
  /**
   * Starts one; what is `given` holds for every scenario that is started there. Throws `instance_limit_reached`.
   */
  readonly create: (start: () => World, given: GivenOptions, label?: string) => Instance;
  readonly list: () => Instance[];
  /** The instance of an id, which counts as a use of it; `undefined` when there is none. */
  readonly find: (id: string) => Instance | undefined;
  /** Throws `not_found`. */
  readonly remove: (id: string) => void;
  readonly close: () => void;
}

interface InstancesOptions {
  /** Milliseconds without a request after which an instance goes. */
  readonly ttl: number;
  /** The most that there are at one time. */
  readonly most: number;
  /** Of the server: counts their requests, too, as a client's coverage outlives its instance, and numbers their worlds. */
  readonly server: Pick<Runtime, "counters" | "idSeries">;
  /** Called with each new one. */
  readonly onCreate?: ((instance: Instance) => void) | undefined;
}

/** The default time that an idle instance stays: an hour. */
export const defaultInstanceTtl = 60 * 60_000;

/** The default number of instances at one time. */
export const defaultMaxInstances = 1000;

/** Makes the place where instances live; idle ones go by themselves. */
export function createInstances({ ttl, most, server, onCreate }: InstancesOptions): Instances {
  const instances = new Map<string, Instance & { usedAt: number; readonly end: () => void }>();
  const discard = (id: string): boolean => {
    instances.get(id)?.end();
    return instances.delete(id);
  };
  const sweep = () => {
    const oldest = nodePlatform.stopwatch() - ttl;
    for (const [id, { usedAt }] of instances) if (usedAt <= oldest) discard(id);
  };
  // Half the time to live is often enough, and 30 seconds are; the timer holds no process up.
  const timer = setInterval(sweep, Math.max(10, Math.min(ttl / 2, 30_000)));
  timer.unref();

  return {
    create(start, given, label) {
      if (instances.size >= most) throw tooMany(most);
      const ending = new AbortController();
      const id = base62From(nodePlatform.random, 12);
      const instance = {
        id,
        label,
        createdAt: nodePlatform.time(),
        runtime: createRuntime(start, { given, idSeries: server.idSeries }),
        gone: ending.signal,
        end: () => ending.abort(),
        usedAt: nodePlatform.stopwatch(),
      };
      instance.runtime.counters.passOnTo(server.counters);
      instance.runtime.counters.curlOptions = server.counters.curlOptions;
      instances.set(id, instance);
      onCreate?.(instance);
      return instance;
    },
    list: () => [...instances.values()],
    find(id) {
      const instance = instances.get(id);
      if (instance !== undefined) instance.usedAt = nodePlatform.stopwatch();
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

function tooMany(most: number): SandboxError {
  return new SandboxError(
    "instance_limit_reached",
    `There are ${most} instances already: remove those that are no longer used with DELETE /__sandbox/instances/{id}, or start with a higher --max-instances.`,
  );
}
