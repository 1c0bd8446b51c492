import { promisify } from "node:util";
import zlib from "node:zlib";
import { checkedOptions } from "../library/create-sandbox.js";
import type { EndedInstance } from "../log/instances.js";
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

/** A sandbox in the store, as read at its snapshot. */
export interface Loaded {
  readonly state: SavedSandbox;
  readonly position: string;
  readonly batches: readonly StoredBatch[];
  /** The settings of an instance as JSON; empty for the server's own sandbox. */
  readonly settings: string;
  readonly founding: string;
  /** Whether a server replays it, or has ended while it did. */
  readonly replaying: string;
}

const inflate = promisify(zlib.inflateRaw);

// Most of a snapshot is its journal, whose requests resemble each other. In this thread, it takes half the processor time.
function packed(text: string): string {
  return zlib.deflateRawSync(text, { level: 1, chunkSize: 65_536 }).toString("base64");
}

/** Reads a sandbox; resolves to when it ended if that is known, or to `undefined`. */
async function loadSandbox(
  connection: RedisConnection,
  id: string,
): Promise<Loaded | EndedInstance | undefined> {
  const reply = (await runScript(connection, loadScript, connection.keys.of(id), [id])) as string[];
  if (reply[0] === "gone") {
    const [ended, at] = (reply[1] as string).split(" ") as [EndedInstance["ended"], string?];
    return at === undefined ? undefined : { ended, at: Number(at) };
  }
  const [snapshot = "", position = "", found, settings = "", founding = "", replaying = ""] = reply;
  const text = String(await inflate(Buffer.from(snapshot, "base64")));
  const batches = found as unknown as readonly StoredBatch[];
  return { state: JSON.parse(text), position, batches, settings, founding, replaying };
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

/** What the list of instances gets: settings as JSON. `expiresAt`: epoch milliseconds. `most`: the maximum number of instances. */
type Listed = { readonly settings: string; readonly most: number; readonly expiresAt: number };

/** Creates a sandbox in Redis unless it exists: the server's own with a founding. Resolves to `created`, `exists` or `full`. */
export function createIn(connection: RedisConnection, id: string, state: SavedSandbox, own: string | Listed) {
  // No two sandboxes share a position.
  const position = `0-${nodePlatform.random()}`;
  const snapshot = packed(JSON.stringify(withShortJournal(state)));
  const rest =
    typeof own === "string"
      ? [own, "", "", "0", ""]
      : ["", id, own.settings, String(own.most), String(Math.ceil(own.expiresAt))];
  return runScript(connection, createScript, connection.keys.of(id).slice(0, 3), [
    snapshot,
    position,
    ...rest,
  ]);
}

/** Replaces the snapshot of a sandbox with one at a later position. */
export function compactIn(connection: RedisConnection, id: string, position: string, text: string) {
  const [time, number] = position.split("-");
  const next = `${time}-${Number(number) + 1}`;
  return runScript(connection, compactScript, connection.keys.of(id).slice(0, 2), [
    position,
    next,
    packed(text),
  ]);
}

// A stored entry must not end every server that replays it. The hash of a sandbox has two more fields:
//
// | `replaying` | `trying` | state | a server that loads it |
// |---|---|---|---|
// | no | no | nobody replays | sets `replaying`, replays all entries, removes it |
// | yes | no | a server replays, or ended while it did | replays carefully: one batch after another, each in `trying` |
// | yes | a batch | a server tries this batch, or ended with it | waits for 10 s, then skips the batch |
//
// After a careful replay, the sandbox continues from a new snapshot after the last batch, so that servers that have applied a
// skipped batch load it again.

/** How long a server may take for one batch (milliseconds). */
const lease = 10_000;
const pauseOfTry = 250;

/** Reads a sandbox like `loadSandbox`, without a batch that ended a server. Its caller replays the batches and then calls `onReplayed`. */
export async function loadToReplay(
  connection: RedisConnection,
  id: string,
  optionsOf: (found: Loaded) => CopyOptions,
  runCall: RunCall,
): Promise<Loaded | EndedInstance | undefined> {
  const [hash] = connection.keys.of(id);
  for (;;) {
    const found = await loadSandbox(connection, id);
    if (found === undefined || "ended" in found || found.batches.length === 0) return found;
    if (found.replaying === "") {
      // A full Redis does not store it. The next server then replays as this one does.
      await commandRedis(connection, "HSET", hash, "replaying", "1").catch(() => {});
      return found;
    }
    await replayCarefully(connection, id, found, optionsOf(found), runCall);
  }
}

/** Ends the replay of a sandbox. */
export function onReplayed(connection: RedisConnection, id: string): void {
  commandRedis(connection, "HDEL", connection.keys.of(id)[0], "replaying").catch(() => {});
}

async function replayCarefully(
  connection: RedisConnection,
  id: string,
  { state, batches }: Loaded,
  options: CopyOptions,
  runCall: RunCall,
): Promise<void> {
  const [hash, stream] = connection.keys.of(id);
  const copy = openCopy(state, options, runCall);
  let isSkipping = false;
  for (const batch of batches) {
    const [position] = batch;
    if (await isTried(connection, hash, position)) {
      isSkipping = true;
      connection.skipped += 1;
      const whose = id === ownId ? "the server's own sandbox" : `the instance ${id}`;
      connection.warn(`has an entry that ended a server. It is skipped: ${position} of ${whose}`);
    } else {
      await commandRedis(connection, "HSET", hash, "trying", `${position} ${redisTime(connection)}`);
      await applyBatch(copy, batch);
    }
    await commandRedis(connection, "HDEL", hash, "trying");
  }
  const [head = ""] = batches.at(-1) ?? [];
  // Without a skipped batch, the other servers continue.
  const snapshot = isSkipping ? packed(JSON.stringify(describeSandbox(copy.runtime))) : "";
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
