import { basename } from "node:path";
import { changeSince, foundingOf, foundingSettings, requireSame, sandboxExists } from "../log/founding.js";
import { type InstanceLimits, limitsOf } from "../log/instances.js";
import type { Log } from "../log/log.js";
import {
  continueState,
  identityOf,
  parseState,
  type SavedState,
  savedAt,
  stateFormat,
} from "../log/state-format.js";
import { loadReader } from "../node/platform.js";
import { isoOf } from "../sandbox/clock.js";
import { describeSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import {
  beginRedis,
  type ConnectionOptions,
  closeRedis,
  commandRedis,
  connectRedis,
  type RedisConnection,
  redisTime,
} from "./redis-connection.js";
import { createRedisLog, type RedisLogOptions } from "./redis-log.js";
import { unfitStore, unusableStore } from "./redis-problems.js";
import { ownId } from "./redis-scripts.js";
import { createListed, createOwn, type Loaded, loadSandbox, startAt } from "./stored-sandbox.js";

export interface StoreOptions extends ConnectionOptions, RedisLogOptions {
  readonly named: NamedScenario;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
}

/**
 * Makes this process one of the servers of the sandbox in a Redis. The first one starts the sandbox.
 *
 * Throws `store_unavailable`, `store_unusable`, or `store_mismatch` if another scenario or other options
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
    if (connection !== undefined) closeRedis(connection);
    throw unusableStore(options.address.shown, error);
  }
}

async function openOn(connection: RedisConnection, options: StoreOptions): Promise<Log> {
  const { given, imported, runCall } = options;
  const { shown } = connection;
  const [what, elsewhere] = [`The sandbox in the store ${shown}`, "give it its own keys with --store-prefix"];
  // Each machine may have the file in another folder.
  const named = { ...options.named, name: basename(options.named.name) };
  const { seed, now, frozen, profile } = given;
  const ours = foundingOf(identityOf(named), {
    ...{ format: stateFormat, "--seed": seed, "--now": now === undefined ? undefined : isoOf(now) },
    ...{ "--frozen": frozen, "--profile": profile },
  });
  const load = async () => (await loadSandbox({ connection, given, runCall }, ownId)) as Loaded | undefined;
  const startOwn = () =>
    createOwn(connection, describeSandbox(startAt(Math.floor(redisTime(connection)), named, given)), ours);

  const there = await load();
  if (there !== undefined && imported !== undefined) throw sandboxExists(`The store ${shown}`, elsewhere);
  if (imported !== undefined) {
    const state = continueState(parseState(imported.text, imported.given), named, imported.given);
    await importInstances(connection, state, options);
    await createOwn(connection, state.own, ours);
  } else if (there === undefined) await startOwn();
  const own = there ?? ((await load()) as Loaded);
  requireSame({ code: "store_mismatch", what, elsewhere }, JSON.parse(own.founding), ours);
  await noteSettings(connection, options);
  beginRedis(connection);
  return createRedisLog(connection, own, startOwn, options);
}

async function importInstances(connection: RedisConnection, state: SavedState, limits: InstanceLimits) {
  const at = redisTime(connection);
  const alive = Math.max(...[state.own, ...state.instances.map((one) => one.runtime)].map(savedAt));
  for (const { id, runtime, createdAt, usedAt, given, idGroup = 0, ...tenancy } of state.instances) {
    const left = limitsOf(limits).instanceTtl - Math.max(0, alive - usedAt);
    const about = { tenancy, createdAt, given, idGroup };
    await createListed(connection, id, runtime, about, at + Math.max(1000, left));
  }
}

/** Keeps the version and the settings of the server that started last, and notes a change. */
async function noteSettings(connection: RedisConnection, options: StoreOptions): Promise<void> {
  const [hash] = connection.keys.of(ownId);
  const now = foundingSettings(options);
  const before = await commandRedis(connection, "HGET", hash, "settings");
  // A full Redis does not store it.
  await commandRedis(connection, "HSET", hash, "settings", JSON.stringify(now)).catch(() => {});
  const change = typeof before === "string" ? changeSince(JSON.parse(before), now) : undefined;
  if (change !== undefined) options.onNote(change);
}

/** Checks that a Redis is new enough and evicts no keys; resolves to a warning. Skips what the user has no permission to read. */
async function checkRedis(connection: RedisConnection): Promise<string | undefined> {
  const { shown } = connection;
  const info = await commandRedis(connection, "INFO").catch((error) => {
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
