import { basename } from "node:path";
import { promisify } from "node:util";
import zlib from "node:zlib";
import { scenarioDuration } from "../library/capture.js";
import { version } from "../node/package-files.js";
import { isoOf } from "../sandbox/clock.js";
import type { GivenOptions } from "../sandbox/runtime.js";
import { describeRuntime } from "../sandbox/state.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { SandboxError } from "../spec/errors.js";
import { isMapping, parsedJson } from "../spec/schema/json.js";
import { listed } from "../spec/schema/words.js";
import { contentHashOf } from "./extend-state.js";
import { createStateWriter, identityOf, parseState } from "./file/format.js";
import { migrateState } from "./file/migrate.js";
import { type Loaded, loadSandbox } from "./followed-sandbox.js";
import { defaultInstanceTtl, defaultMaxInstances } from "./instances.js";
import type { Log } from "./log.js";
import { defaultPrefix, isOfEarlier, isOwnKey, keysOf, ownId, type RedisAddress } from "./redis-address.js";
import { type Command, connectRedis, type RedisConnection } from "./redis-connection.js";
import { createIn, createRedisLog, type RedisLog, type RedisLogOptions, startAt } from "./redis-log.js";
import { foreignKey, unfitStore, unusableStore } from "./redis-problems.js";
import { changeScript } from "./redis-scripts.js";

export interface StoreOptions extends Omit<RedisLogOptions, "connection" | "prefix" | "own" | "recreate"> {
  readonly address: RedisAddress;
  /** The prefix of all key names, in braces. Default: `svc-sandbox:`. */
  readonly prefix?: string | undefined;
  /** Milliseconds before an append without a reply is rejected. Default: 2000. */
  readonly timeout?: number | undefined;
  /** The scenario of the sandbox, equal for all servers. */
  readonly named: NamedScenario;
  /** A state file to start from. */
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  /** Whether a sandbox of an earlier version, or with fewer organizations and keys, may be continued. Default: false. */
  readonly migrate?: boolean | undefined;
}

const gzip = promisify(zlib.gzip);
const content = "content of the scenario";
/** The members of a founding that `--migrate` changes. */
const migrated = ["version", "scenario", content, "--max-instances", "--instance-ttl"];
/** The first version with XTRIM MINID, which a store needs. */
const oldest = "6.2";

/**
 * Makes this process one of the servers of the sandbox in a Redis. The first one starts the sandbox.
 *
 * Throws `store_unavailable`, `store_unusable`, or `store_mismatch` if another version, another scenario or other options
 * started it.
 */
export async function openStore(options: StoreOptions): Promise<Log> {
  const { address, timeout = 2000, onNote, onWarning } = options;
  const { shown } = address;
  const warnings: string[] = [];
  const check = async (command: Command) => {
    warnings.push(...(await checkRedis(command, shown)));
  };
  const connection = await connectRedis({ address, timeout, onNote, onWarning, check }).catch((error) => {
    throw unusableStore(shown, error);
  });
  try {
    const log = await openOn(connection, options);
    warnings.forEach(onWarning);
    return log;
  } catch (error) {
    connection.close();
    throw unusableStore(shown, error);
  }
}

async function openOn(connection: RedisConnection, options: StoreOptions): Promise<Log> {
  const { given, prefix = defaultPrefix, imported, migrate = false, onNote } = options;
  const { maxInstances = defaultMaxInstances, instanceTtl = defaultInstanceTtl } = options;
  const { shown } = connection;
  // Each machine may have the file in another folder.
  const named = { ...options.named, name: basename(options.named.name) };
  const founding = foundingOf(named, given, { maxInstances, instanceTtl });
  const keys = keysOf(prefix);
  const load = async () => {
    const loaded = await loadSandbox(connection, keys.of(ownId), ownId);
    return typeof loaded === "string" ? undefined : loaded;
  };
  const startOwn = async () => {
    const at = Math.floor(connection.time());
    await createIn(connection, prefix, ownId, describeRuntime(startAt(at, named, given)), { founding });
  };
  const startImported = async (text: string, from: string) => {
    const { state } = migrateState(parseState(text, from), named, { given: from, isAllowed: migrate });
    const at = connection.time();
    for (const { id, runtime, createdAt, idle, given, idGroup = 0, ...tenancy } of state.instances) {
      const { name, snapshot } = runtime;
      const settings = { tenancy, createdAt, name, seed: snapshot.seed ?? 1, given, idGroup };
      const expiresAt = tenancy.expiresAt ?? at + Math.max(1000, instanceTtl - idle);
      const most = Number.POSITIVE_INFINITY;
      await createIn(connection, prefix, id, runtime, {
        listed: { settings: JSON.stringify(settings), most, expiresAt },
      });
    }
    await createIn(connection, prefix, ownId, state.own, { founding });
  };

  const there = await load();
  if (there !== undefined && imported !== undefined) throw sandboxExists(shown);
  if (there === undefined) {
    await checkKeys(connection, prefix, imported !== undefined);
    if (imported === undefined) await startOwn();
    else await startImported(imported.text, imported.given);
  }
  const own = there ?? ((await load()) as Loaded);
  const isOther = own.founding !== founding && own.previous !== founding;
  if (isOther && !(migrate && canMigrate(own.founding, founding))) {
    throw otherFounding(shown, own.founding, founding);
  }
  const log = createRedisLog({ ...options, connection, prefix, own, recreate: startOwn });
  if (isOther) onNote(await migrateLog(log, connection, prefix, { named, from: own.founding, to: founding }));
  return log;
}

/** Backs up the state of a log, and continues it with this founding; resolves to a message about the changes. */
async function migrateLog(
  log: RedisLog,
  connection: RedisConnection,
  prefix: string,
  { named, from: text, to }: { readonly named: NamedScenario; readonly from: string; readonly to: string },
): Promise<string> {
  const keys = keysOf(prefix);
  const from = membersOf(text);
  const before = String(from.version);
  const { own, ...rest } = await log.describe();
  const startedWith = identityOf({ name: String(from.scenario), scenario: own.scenario });
  const backup = createStateWriter()({ startedWith, own, ...rest }, "backup");
  const key = keys.backup(before);
  const isExtended = from[content] !== contentHashOf(named);
  const extended = isExtended ? await log.extend(String(from[content]), named) : { changes: [] };
  if (typeof extended === "string") {
    throw new SandboxError(
      "store_mismatch",
      `Failed to migrate the sandbox in the store: ${extended}. A scenario may only get more organizations and keys. Undo that change, or name other keys with --store-prefix.`,
    );
  }
  const zipped = (await gzip(backup)).toString("base64");
  const argv = ["founding", text, to, "previous", zipped];
  const found = await connection.run(changeScript, [keys.of(ownId)[0], key], argv);
  // Another server may have just migrated it.
  if (found !== "" && found !== to) throw otherFounding(connection.shown, String(found), to);
  const flags = differencesOf(text, to).names.filter((name) => name.startsWith("--"));
  const changes = [
    ...(before === version ? [] : [`svc-sandbox ${before} to ${version}`]),
    ...flags.map((name) => `${name} ${from[name]} to ${membersOf(to)[name]}`),
    ...extended.changes,
  ];
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
    "--instance-ttl": scenarioDuration(instanceTtl),
  });
}

/** Checks that a Redis is new enough and evicts no keys; resolves to warnings. Skips what the user has no permission to read. */
async function checkRedis(command: Command, shown: string): Promise<readonly string[]> {
  const info = await command("INFO").catch((error) => {
    if (/^(?:NOPERM|ERR unknown)/.test((error as Error).message)) return "";
    throw error;
  });
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(String(info))?.[1];
  if (read("redis_mode") === "sentinel") {
    throw unfitStore(shown, "it is a Sentinel, which stores nothing. Name the Redis that it watches.");
  }
  const version = read("redis_version");
  if (version?.localeCompare(oldest, "en", { numeric: true }) === -1) {
    throw unfitStore(
      shown,
      `it is a Redis ${version}, which is too old. Use Redis ${oldest} or newer, or Valkey.`,
    );
  }
  const [policy = "noeviction", most = "0"] = [read("maxmemory_policy"), read("maxmemory")];
  // Instances have an expiry, so that the volatile policies evict them, too.
  if (policy !== "noeviction" && most !== "0") {
    throw unfitStore(
      shown,
      `its maxmemory-policy ${policy} evicts keys when it is full. Set maxmemory-policy to noeviction.`,
    );
  }
  if (read("aof_enabled") !== "0") return [];
  const lost = "its data may be lost when it restarts. See docs/store.md.";
  return [`The store ${shown} has no append-only file: ${lost}`];
}

/**
 * Rejects keys of an earlier layout and of other programs, among about the first 100,000. An import replaces keys of an earlier
 * layout. Finds none without permission to scan.
 */
async function checkKeys({ command, shown }: RedisConnection, prefix: string, isImport: boolean) {
  let cursor = "0";
  for (let round = 0; round < 100; round += 1) {
    const reply = await command("SCAN", cursor, "MATCH", `{${prefix}*`, "COUNT", "1000").catch((error) => {
      if (/^NOPERM/.test((error as Error).message)) return ["0", []];
      throw error;
    });
    const [next, keys] = reply as [string, readonly string[]];
    for (const key of keys) {
      if (isOfEarlier(prefix, key)) {
        if (!isImport) throw earlierLayout(shown, key);
        await command("UNLINK", key);
      } else if (!isOwnKey(prefix, key)) throw foreignKey(shown, key);
    }
    cursor = next;
    if (cursor === "0") return;
  }
}

/** The error for a store with a sandbox of svc-sandbox 0.1. */
function earlierLayout(shown: string, key: string): SandboxError {
  return unfitStore(
    shown,
    `its key ${JSON.stringify(key)} belongs to a sandbox of svc-sandbox 0.1, and svc-sandbox ${version} cannot read it. Run svc-sandbox export <URL of a 0.1 server> -o backup.json, stop the 0.1 servers, and start this one once with --import backup.json. To start an empty sandbox instead, name other keys with --store-prefix.`,
  );
}

/** The error for an import into a store that has a sandbox. */
function sandboxExists(shown: string): SandboxError {
  return new SandboxError(
    "sandbox_exists",
    `The store ${shown} already contains a sandbox, and --import does not replace it. Start without --import, or give this one its own keys with --store-prefix.`,
  );
}

/** The error for a sandbox with another founding. A founding is a flat JSON object; the message names different members. */
function otherFounding(shown: string, theirs: string, ours: string): SandboxError {
  const { begun, own, names } = differencesOf(theirs, ours);
  const show = (members: Readonly<Record<string, unknown>>, name: string) =>
    `${name} ${name in members ? JSON.stringify(members[name]) : "(none)"}`;
  const [before, now] = [begun, own].map((members) =>
    listed(
      names.map((name) => show(members, name)),
      "and",
    ),
  );
  return new SandboxError(
    "store_mismatch",
    `The sandbox in the store ${shown} was started with ${before}, and this one has ${now}. ${canMigrate(theirs, ours) ? "Add --migrate to continue it, start" : "Start"} this one with the same, or give it its own keys with --store-prefix.`,
    { store: begun, own },
  );
}

/** Whether a sandbox with another founding may be migrated: not of a later or another major version. */
function canMigrate(theirs: string, ours: string): boolean {
  const { begun, own, names } = differencesOf(theirs, ours);
  const [before, now] = [begun.version, own.version].map(String) as [string, string];
  const isLater = now.localeCompare(before, "en", { numeric: true }) >= 0;
  const isSameMajor = Number.parseInt(before, 10) === Number.parseInt(now, 10);
  return isLater && isSameMajor && names.every((name) => migrated.includes(name));
}

function differencesOf(theirs: string, ours: string) {
  const [begun, own] = [membersOf(theirs), membersOf(ours)];
  const names = [...new Set([...Object.keys(own), ...Object.keys(begun)])].filter(
    (name) => JSON.stringify(begun[name]) !== JSON.stringify(own[name]),
  );
  return { begun, own, names };
}

function membersOf(founding: string): Readonly<Record<string, unknown>> {
  const value = parsedJson(founding);
  return isMapping(value) ? value : { founding };
}
