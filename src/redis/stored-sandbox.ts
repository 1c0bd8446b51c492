import { promisify } from "node:util";
import zlib from "node:zlib";
import { checkedOptions } from "../library/create-sandbox.js";
import type { EndedInstance, ListedInstance } from "../log/instances.js";
import { nodePlatform } from "../node/platform.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox.js";
import { describeSandbox, type SavedSandbox, startSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { commandRedis, type RedisConnection, redisTime, runScript } from "./redis-connection.js";
import {
  compactScript,
  createScript,
  loadScript,
  ownId,
  resumeScript,
  type StoredBatch,
} from "./redis-scripts.js";
import { applyBatch, type CopyOptions, openCopy, type RunCall, withShortJournal } from "./sandbox-copy.js";

/** An instance in the list of all. */
export interface Settings extends Pick<ListedInstance, "tenancy" | "createdAt" | "name" | "seed"> {
  readonly given: GivenOptions;
  readonly idGroup: number;
}

/** A sandbox in the store, as read at its snapshot. */
export interface Loaded {
  readonly state: SavedSandbox;
  readonly position: string;
  readonly batches: readonly StoredBatch[];
  /** `undefined` for the server's own sandbox, and for an instance that is not in the list. */
  readonly settings: Settings | undefined;
  readonly founding: string;
}

/** What a server needs to load a sandbox. `given`: the options of its own. */
export interface Loading {
  readonly connection: RedisConnection;
  readonly given: GivenOptions;
  readonly runCall: RunCall;
}

const inflate = promisify(zlib.inflateRaw);

// Most of a snapshot is its journal, whose requests resemble each other. In this thread, it takes half the processor time.
function packed(text: string): string {
  return zlib.deflateRawSync(text, { level: 1, chunkSize: 65_536 }).toString("base64");
}

/** Starts a sandbox at an instant (epoch milliseconds), equal on every server. */
export function startAt(
  at: number,
  { scenario, name, text }: NamedScenario,
  given: GivenOptions,
  idGroup?: number,
): SandboxState {
  const time = () => at;
  const platform = { ...nodePlatform, time, steadyTime: time, stopwatch: time };
  return startSandbox(scenario, { platform, name, text, ...checkedOptions(given), given, idGroup });
}

/** Creates a sandbox unless it exists. Resolves to `created`, `exists` or `full`. */
function createIn(connection: RedisConnection, id: string, state: SavedSandbox, ...rest: readonly string[]) {
  // No two sandboxes share a position.
  const position = `0-${nodePlatform.random()}`;
  const snapshot = packed(JSON.stringify(withShortJournal(state)));
  const keys = connection.keys.of(id).slice(0, 3);
  return runScript(connection, createScript, keys, [snapshot, position, ...rest]);
}

export function createOwn(connection: RedisConnection, state: SavedSandbox, founding: object) {
  return createIn(connection, ownId, state, JSON.stringify(founding), "", "", "0", "");
}

/** `usedUntil`: when it expires if it is not used (epoch milliseconds). `most`: the maximum number of instances. */
export function createListed(
  connection: RedisConnection,
  id: string,
  state: SavedSandbox,
  about: Omit<Settings, "name" | "seed">,
  usedUntil: number,
  most = Number.POSITIVE_INFINITY,
) {
  const settings: Settings = { ...about, name: state.name, seed: state.snapshot.seed ?? 1 };
  const expiresAt = Math.ceil(about.tenancy.expiresAt ?? usedUntil);
  return createIn(connection, id, state, "", id, JSON.stringify(settings), String(most), String(expiresAt));
}

/** Replaces the snapshot of a sandbox with one at a later position. */
export function compactIn(connection: RedisConnection, id: string, position: string, text: string) {
  return runScript(connection, compactScript, connection.keys.of(id).slice(0, 2), [position, packed(text)]);
}

// A stored entry must not end every server that replays it. The hash of a sandbox has two more fields:
//
// | `replaying` | `trying` | state | a server that loads it |
// |---|---|---|---|
// | no | no | nobody replays | sets `replaying`, replays all entries, removes it |
// | yes | no | a server replays, or ended while it did | replays carefully: one batch after another, each in `trying` |
// | yes | a batch | a server tries this batch, or ended with it | waits for 10 s, then skips the batch |
//
// After a batch was skipped, the sandbox continues from a new snapshot, so that servers that have applied it load it again.

/** How long a server may take for one batch (milliseconds). */
const lease = 10_000;
const pauseOfTry = 250;

/**
 * Reads a sandbox without a batch that ended a server; resolves to when it ended if that is known, or to `undefined`. Its caller
 * replays the batches and then calls `onReplayed`.
 */
export async function loadSandbox(from: Loading, id: string): Promise<Loaded | EndedInstance | undefined> {
  const { connection } = from;
  const keys = connection.keys.of(id);
  for (;;) {
    const reply = (await runScript(connection, loadScript, keys, [id])) as string[];
    if (reply[0] === "gone") {
      const [ended, at] = (reply[1] as string).split(" ") as [EndedInstance["ended"], string?];
      return at === undefined ? undefined : { ended, at: Number(at) };
    }
    const [snapshot = "", position = "", found, settings, founding = "", replaying] = reply;
    const text = String(await inflate(Buffer.from(snapshot, "base64")));
    const batches = found as unknown as readonly StoredBatch[];
    const loaded: Loaded = {
      ...{ state: JSON.parse(text), position, batches, founding },
      settings: settings ? JSON.parse(settings) : undefined,
    };
    if (batches.length === 0) return loaded;
    if (replaying === "") {
      // A full Redis does not store it. The next server then replays as this one does.
      await commandRedis(connection, "HSET", keys[0], "replaying", "1").catch(() => {});
      return loaded;
    }
    await replayCarefully(from, id, loaded);
  }
}

/** Ends the replay of a sandbox. */
export function onReplayed(connection: RedisConnection, id: string): void {
  commandRedis(connection, "HDEL", connection.keys.of(id)[0], "replaying").catch(() => {});
}

export function optionsOf({ given }: Loading, { settings }: Loaded): CopyOptions {
  return { given: settings?.given ?? given, idGroup: settings?.idGroup };
}

async function replayCarefully(from: Loading, id: string, loaded: Loaded): Promise<void> {
  const { connection, runCall } = from;
  const [hash, stream] = connection.keys.of(id);
  const copy = openCopy(loaded.state, optionsOf(from, loaded), runCall);
  let isSkipping = false;
  let head = "";
  for (const batch of loaded.batches) {
    [head] = batch;
    if (await isTried(connection, hash, head)) {
      isSkipping = true;
      connection.skipped += 1;
      const whose = id === ownId ? "the server's own sandbox" : `the instance ${id}`;
      connection.warn(`has an entry that ended a server. It is skipped: ${head} of ${whose}`);
    } else {
      await commandRedis(connection, "HSET", hash, "trying", `${head} ${redisTime(connection)}`);
      await applyBatch(copy, batch);
    }
    await commandRedis(connection, "HDEL", hash, "trying");
  }
  if (!isSkipping) return onReplayed(connection, id);
  const snapshot = packed(JSON.stringify(describeSandbox(copy.runtime)));
  await runScript(connection, resumeScript, [hash, stream], [head, snapshot]);
}

/** Whether a server has ended with this batch. Waits for one that is still trying it. */
async function isTried(connection: RedisConnection, hash: string, position: string): Promise<boolean> {
  for (;;) {
    const [tried, at] = String((await commandRedis(connection, "HGET", hash, "trying")) ?? "").split(" ");
    if (tried !== position) return false;
    if (redisTime(connection) - Number(at) > lease) return true;
    await new Promise((resolve) => setTimeout(resolve, pauseOfTry));
  }
}
