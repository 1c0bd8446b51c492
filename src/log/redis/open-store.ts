import { basename } from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib";
import { SandboxError } from "../../domain/errors.js";
import { durationText } from "../../library/captured-steps.js";
import { version } from "../../node/package-files.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { listed } from "../../schema/words.js";
import { isoOf } from "../../world/clock.js";
import type { GivenOptions } from "../../world/runtime.js";
import { describeRuntime } from "../../world/state.js";
import { contentHashOf } from "../extend-state.js";
import { createStateWriter, identityOf, parseState } from "../file/format.js";
import { migrateState } from "../file/migrate.js";
import { defaultInstanceTtl, defaultMaxInstances, type ServerState } from "../instances.js";
import type { Log } from "../log.js";
import { startAt } from "../replica/registry.js";
import { openReplica, type Replica, type ReplicaOptions } from "../replica/replica.js";
import { firstStatesOf } from "../replica/server-state.js";
import { membersOf } from "./checks.js";
import { openRedisLog, type RedisLogOptions, type RedisServerLog } from "./redis-store.js";

export interface StoreOptions
  extends Omit<RedisLogOptions, "founding" | "first" | "isImport">,
    Pick<ReplicaOptions, "given" | "onProblem" | "runCall" | "maxInstances" | "instanceTtl" | "maxMemory"> {
  /** The scenario of the sandbox, equal for all replicas. */
  readonly named: NamedScenario;
  /** A state file to start from. */
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
}

const gzip = promisify(zlib.gzip);
const content = "content of the scenario";

/**
 * Makes this process a replica of the sandbox in a Redis. The first replica starts the sandbox.
 *
 * Throws `store_unavailable`, `store_unusable`, or `store_mismatch` if another version, another scenario or other options
 * started it.
 */
export async function openStore(options: StoreOptions): Promise<Log> {
  const { given, runCall, maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  // Each machine may have the file in another folder.
  const named = { ...options.named, name: basename(options.named.name) };
  // The log has already reported that the store is away.
  const onProblem = (error: unknown) => {
    if (!(error instanceof SandboxError && error.code === "store_unavailable")) options.onProblem(error);
  };
  const { imported, migrate = false, onNote = () => {} } = options;
  const firstState = (now: number): ServerState => {
    const runtime = startAt(now, named, given);
    return { own: describeRuntime(runtime), idSeries: runtime.idSeries.last, instances: [] };
  };
  const begun =
    imported &&
    migrateState(parseState(imported.text, imported.given), named, { ...imported, isAllowed: migrate });
  const log = await openRedisLog({
    ...options,
    isImport: begun !== undefined,
    first: (now) => firstStatesOf(begun?.state ?? firstState(now), now),
    founding: foundingOf(named, given, { maxInstances, instanceTtl }),
  });
  try {
    const replica = await openReplica({
      ...{ log, given, runCall, onProblem, maxInstances, instanceTtl, maxMemory: options.maxMemory },
    });
    const from = log.migratesFrom();
    if (from !== undefined) onNote(await migrateLog(log, replica, membersOf(from), named));
    return replica;
  } catch (error) {
    await log.close();
    throw error;
  }
}

/** Backs up the state of a log, and continues it with this version and scenario; resolves to a message about the changes. */
async function migrateLog(
  log: RedisServerLog,
  replica: Replica,
  from: Readonly<Record<string, unknown>>,
  named: NamedScenario,
): Promise<string> {
  const before = String(from.version);
  const { own, ...rest } = await replica.describe();
  const startedWith = identityOf({ name: String(from.scenario), scenario: own.scenario });
  const text = createStateWriter()({ startedWith, own, ...rest }, "backup");
  const key = await log.backUp(before, (await gzip(text)).toString("base64"));
  const isExtended = from[content] !== contentHashOf(named);
  const extended = isExtended ? await replica.extend(String(from[content]), named) : { changes: [] };
  if (typeof extended === "string") {
    throw new SandboxError(
      "store_mismatch",
      `Failed to migrate the sandbox in the store: ${extended}. A scenario may only get more organizations and keys. Undo that change, or name other keys with --store-prefix.`,
    );
  }
  await log.migrate();
  const changes =
    before === version ? extended.changes : [`svc-sandbox ${before} to ${version}`, ...extended.changes];
  // Another replica may have just added it.
  const what = changes.length === 0 ? "the state that another replica started" : listed(changes, "and");
  return `Migrated: ${what}. The previous state is in the key ${JSON.stringify(key)}.`;
}

// Members are named like the flags, for the message about a difference.
function foundingOf(
  { name, scenario }: NamedScenario,
  given: GivenOptions,
  { maxInstances, instanceTtl }: { readonly maxInstances: number; readonly instanceTtl: number },
): string {
  const { seed, now, frozen, profile } = given;
  return JSON.stringify({
    version,
    scenario: name,
    [content]: contentHashOf({ scenario }),
    "--seed": seed,
    "--now": now === undefined ? undefined : isoOf(now),
    "--frozen": frozen,
    "--profile": profile,
    "--max-instances": maxInstances,
    "--instance-ttl": durationText(instanceTtl),
  });
}
