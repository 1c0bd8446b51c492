import { basename } from "node:path";
import { SandboxError } from "../../domain/errors.js";
import { durationText } from "../../library/captured-steps.js";
import { version } from "../../node/package-files.js";
import { nodePlatform } from "../../node/platform.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { isoOf } from "../../world/clock.js";
import { createWorld } from "../../world/create-world.js";
import type { GivenOptions } from "../../world/runtime.js";
import { defaultInstanceTtl, defaultMaxInstances } from "../instances.js";
import type { Log } from "../log.js";
import { openReplica, type ReplicaOptions } from "../replica/replica.js";
import { openRedisLog, type RedisLogOptions } from "./redis-store.js";

export interface StoreOptions
  extends Omit<RedisLogOptions, "founding">,
    Pick<ReplicaOptions, "given" | "onProblem" | "runCall" | "maxInstances" | "instanceTtl" | "maxMemory"> {
  /** The scenario that the sandbox starts from; all replicas must have the same. */
  readonly named: NamedScenario;
}

/**
 * Makes this process a replica of the sandbox in a Redis; begins it there when it is the first one.
 *
 * Throws `store_unavailable`, `store_unusable`, or `store_mismatch` when it was begun by another version, or with another
 * scenario or other options.
 */
export async function openStore(options: StoreOptions): Promise<Log> {
  const { given, runCall, maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  // A file may be in another folder on each machine.
  const named = { ...options.named, name: basename(options.named.name) };
  // The log has told that the store is away.
  const onProblem = (error: unknown) => {
    if (!(error instanceof SandboxError && error.code === "store_unavailable")) options.onProblem(error);
  };
  const log = await openRedisLog({
    ...options,
    founding: foundingOf(named, given, { maxInstances, instanceTtl }),
  });
  try {
    return await openReplica({
      ...{ log, given, runCall, onProblem, maxInstances, instanceTtl, maxMemory: options.maxMemory },
      start: (platform) =>
        createWorld(named.scenario, { platform, name: named.name, text: named.text, ...given }),
    });
  } catch (error) {
    await log.close();
    throw error;
  }
}

// The words are those of the flags, for the message about a difference.
function foundingOf(
  { name, scenario }: NamedScenario,
  given: GivenOptions,
  { maxInstances, instanceTtl }: { readonly maxInstances: number; readonly instanceTtl: number },
): string {
  const { seed, now, frozen, profile } = given;
  return JSON.stringify({
    version,
    scenario: name,
    "content of the scenario": nodePlatform.sha256(JSON.stringify(scenario)).slice(0, 12),
    "--seed": seed,
    "--now": now === undefined ? undefined : isoOf(now),
    "--frozen": frozen,
    "--profile": profile,
    "--max-instances": maxInstances,
    "--instance-ttl": durationText(instanceTtl),
  });
}
