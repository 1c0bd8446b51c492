import { basename } from "node:path";
import { scenarioDuration } from "../library/capture.js";
import {
  canMigrate,
  content,
  type Founding,
  foundingOf,
  migrationOf,
  otherFounding,
  sandboxExists,
} from "../log/founding.js";
import { defaultInstanceTtl, defaultMaxInstances } from "../log/instances.js";
import type { Log } from "../log/log.js";
import { continueState, parseState } from "../log/state-file.js";
import { version } from "../node/package-files.js";
import { loadReader } from "../node/platform.js";
import { isoOf } from "../sandbox/clock.js";
import { describeSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { loadToReplay } from "./careful-replay.js";
import { type ConnectionOptions, connectRedis, type RedisConnection } from "./redis-connection.js";
import { createRedisLog, type RedisLogOptions } from "./redis-log.js";
import { unfitStore, unusableStore } from "./redis-problems.js";
import { changeScript, ownId } from "./redis-scripts.js";
import { createIn, type Loaded, startAt } from "./stored-sandbox.js";

export interface StoreOptions
  extends ConnectionOptions,
    Omit<RedisLogOptions, "connection" | "own" | "recreate"> {
  readonly named: NamedScenario;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  /** Whether a sandbox of an earlier version, or with fewer organizations and keys, may be continued. Default: false. */
  readonly migrate?: boolean | undefined;
}

/**
 * Makes this process one of the servers of the sandbox in a Redis. The first one starts the sandbox.
 *
 * Throws `store_unavailable`, `store_unusable`, or `store_mismatch` if another version, another scenario or other options
 * started it.
 */
export async function openStore(options: StoreOptions): Promise<Log> {
  let connection: RedisConnection | undefined;
  try {
    connection = await connectRedis(options);
    const warning = await checkRedis(connection);
    // An entry of another server may start a scenario with a document, and applying it cannot wait.
    await loadReader();
    const log = await openOn(connection, options);
    if (warning !== undefined) options.onWarning(warning);
    return log;
  } catch (error) {
    connection?.close();
    throw unusableStore(options.address.shown, error);
  }
}

async function openOn(connection: RedisConnection, options: StoreOptions): Promise<Log> {
  const { given, imported, migrate = false, onNote } = options;
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  const { shown } = connection;
  const [what, elsewhere] = [`The sandbox in the store ${shown}`, "give it its own keys with --store-prefix"];
  const stored = { code: "store_mismatch", what, elsewhere } as const;
  // Each machine may have the file in another folder.
  const named = { ...options.named, name: basename(options.named.name) };
  const { seed, now, frozen, profile } = given;
  const ours = foundingOf(named, {
    ...{ "--seed": seed, "--now": now === undefined ? undefined : isoOf(now) },
    ...{ "--frozen": frozen, "--profile": profile },
    ...{ "--max-instances": maxInstances, "--instance-ttl": scenarioDuration(instanceTtl) },
  });
  const founding = JSON.stringify(ours);
  const load = async () =>
    (await loadToReplay(connection, ownId, () => ({ given }), options.runCall)) as Loaded | undefined;
  const startOwn = () => {
    const state = describeSandbox(startAt(Math.floor(connection.time()), named, given));
    return createIn(connection, ownId, state, founding);
  };
  const startImported = async (text: string, from: string) => {
    const { state } = continueState(parseState(text, from), named, { given: from, isAllowed: migrate });
    const at = connection.time();
    for (const { id, runtime, createdAt, idle, given, idGroup = 0, ...tenancy } of state.instances) {
      const { name, snapshot } = runtime;
      const settings = { tenancy, createdAt, name, seed: snapshot.seed ?? 1, given, idGroup };
      const expiresAt = tenancy.expiresAt ?? at + Math.max(1000, instanceTtl - idle);
      const listed = { settings: JSON.stringify(settings), most: Number.POSITIVE_INFINITY, expiresAt };
      await createIn(connection, id, runtime, listed);
    }
    await createIn(connection, ownId, state.own, founding);
    await removeEarlier(connection);
  };

  const there = await load();
  if (there !== undefined && imported !== undefined) {
    throw sandboxExists(`The store ${shown}`, elsewhere);
  }
  if (there === undefined && imported !== undefined) await startImported(imported.text, imported.given);
  else if (there === undefined) {
    await rejectEarlier(connection);
    await startOwn();
  }
  const own = there ?? ((await load()) as Loaded);
  const theirs: Founding = JSON.parse(own.founding);
  const isOther = own.founding !== founding && own.previous !== founding;
  if (isOther && !(migrate && canMigrate(theirs, ours))) {
    throw otherFounding(stored, theirs, ours);
  }
  connection.begin();
  const log = createRedisLog({ ...options, connection, own, recreate: startOwn });
  if (!isOther) return log;
  if (theirs[content] !== ours[content]) {
    await log.extend(String(theirs[content]), named);
  }
  // Servers with the previous founding may still start, for a rollback.
  const [hash] = connection.keys.of(ownId);
  await connection.command("HSET", hash, "previous", own.founding);
  const found = await connection.run(changeScript, [hash], ["founding", own.founding, founding, ""]);
  // Another server may have just migrated it.
  if (found !== "" && found !== founding) {
    throw otherFounding(stored, JSON.parse(String(found)), ours);
  }
  onNote(migrationOf(theirs, ours));
  return log;
}

/** Checks that a Redis is new enough and evicts no keys; resolves to a warning. Skips what the user has no permission to read. */
async function checkRedis({ command, shown }: RedisConnection): Promise<string | undefined> {
  const info = await command("INFO").catch((error) => {
    if (/^(?:NOPERM|ERR unknown)/.test((error as Error).message)) return "";
    throw error;
  });
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(String(info))?.[1];
  const version = read("redis_version");
  // The first version with XTRIM MINID.
  if (version?.localeCompare("6.2", "en", { numeric: true }) === -1) {
    throw unfitStore(shown, `it is a Redis ${version}, which is too old. Use Redis 6.2 or newer, or Valkey.`);
  }
  const [policy = "noeviction", most = "0"] = [read("maxmemory_policy"), read("maxmemory")];
  // Instances have an expiry, so that the volatile policies evict them, too.
  if (policy !== "noeviction" && most !== "0") {
    throw unfitStore(
      shown,
      `its maxmemory-policy ${policy} evicts keys when it is full. Set maxmemory-policy to noeviction.`,
    );
  }
  if (read("aof_enabled") !== "0") return undefined;
  return `The store ${shown} has no append-only file: its data may be lost when it restarts. See docs/store.md.`;
}

async function removeEarlier({ command, keys }: RedisConnection) {
  let cursor = "0";
  do {
    const [next, found] = (await command("SCAN", cursor, "MATCH", keys.all)) as [string, string[]];
    const earlier = found.filter(keys.isEarlier);
    if (earlier.length > 0) await command("UNLINK", ...earlier);
    cursor = next;
  } while (cursor !== "0");
}

async function rejectEarlier({ command, shown, keys }: RedisConnection) {
  if ((await command("EXISTS", ...keys.earlier)) === 0) return;
  throw unfitStore(
    shown,
    `its key ${JSON.stringify(keys.earlier[0])} belongs to a sandbox of svc-sandbox 0.1, and svc-sandbox ${version} cannot read it. Run svc-sandbox export <URL of a 0.1 server> -o backup.json, stop the 0.1 servers, and start this one once with --import backup.json. To start an empty sandbox instead, name other keys with --store-prefix.`,
  );
}
