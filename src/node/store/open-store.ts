import { SandboxError } from "../../domain/errors.js";
import { isoOf } from "../../sandbox/clock.js";
import { createWorld } from "../../sandbox/create-world.js";
import type { GivenOptions } from "../../sandbox/runtime.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { defaultMaxInstances } from "../control/instances.js";
import { version } from "../package-files.js";
import { nodePlatform } from "../platform.js";
import { openReplica } from "./open-replica.js";
import { openRedisLog, type RedisLogOptions } from "./redis/log.js";
import type { Replica, ReplicaOptions } from "./replica.js";

export interface StoreOptions
  extends Omit<RedisLogOptions, "founding">,
    Pick<ReplicaOptions, "given" | "onProblem"> {
  /** What the sandbox starts from; all replicas have to have the same. */
  readonly named: NamedScenario;
  readonly maxInstances?: number | undefined;
  readonly instanceTtl?: number | undefined;
}

/**
 * Makes this process a replica of the sandbox in a Redis; begins it there when it is the first one.
 *
 * Throws `store_unavailable`, `store_unusable`, or `store_mismatch` when it was begun by another version, or with another
 * scenario or other options.
 */
export async function openStore(options: StoreOptions): Promise<Replica> {
  const { named, given, maxInstances = defaultMaxInstances, instanceTtl } = options;
  // The log has told that the store is away.
  const onProblem = (error: unknown) => {
    if (!(error instanceof SandboxError && error.code === "store_unavailable")) options.onProblem(error);
  };
  const log = await openRedisLog({ ...options, founding: foundingOf(named, given, maxInstances) });
  try {
    return await openReplica({
      ...{ log, given, onProblem, maxInstances },
      ...(instanceTtl !== undefined && { instanceTtl }),
      start: (platform) =>
        createWorld(named.scenario, { platform, name: named.name, text: named.text, ...given }),
    });
  } catch (error) {
    await log.close();
    throw error;
  }
}

// The words are those of the flags, for the message about a difference.
function foundingOf({ name, scenario }: NamedScenario, given: GivenOptions, maxInstances: number): string {
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
  });
}
