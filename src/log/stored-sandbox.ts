import { promisify } from "node:util";
import zlib from "node:zlib";
import { checkedOptions } from "../library/create-sandbox.js";
import { nodePlatform } from "../node/platform.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox.js";
import { type SavedSandbox, startSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import type { EndedInstance } from "./instances.js";
import { type RedisConnection, type Reply, separator } from "./redis-connection.js";
import { compactScript, createScript, loadScript } from "./redis-scripts.js";
import { withShortJournal } from "./sandbox-copy.js";

/** The key names of a sandbox and of the list of instances. All share one hash tag. */
export function storeKeys(prefix: string) {
  const start = `{${prefix}}:`;
  return {
    list: `${start}instances`,
    /** Returns the hash, the stream, the list, and the key about the end of a sandbox; `own` is the server's own. */
    of: (id: string) =>
      [`${start}${id}:state`, `${start}${id}:log`, `${start}instances`, `${start}${id}:end`] as const,
    /** The parts around an instance's id. */
    parts: [start, ":state", ":log", ":end"] as const,
    backup: (version: string) => `${start}backup-${version}`,
  };
}

/** The id of a server's own sandbox. */
export const ownId = "own";

/** Whether a key belongs to the layout of svc-sandbox 0.1. */
export function isOfEarlier(prefix: string, key: string): boolean {
  return /^(?:\w{12}\}:instance|\}):(?:meta|log|snapshot)$/.test(key.slice(prefix.length + 1));
}

/** A stored batch. Its position is its id. */
export interface StoredBatch {
  readonly position: string;
  readonly texts: readonly string[];
}

/** A sandbox in the store, as read at its snapshot. */
export interface Loaded {
  readonly state: SavedSandbox;
  readonly position: string;
  readonly batches: readonly StoredBatch[];
  /** The settings of an instance as JSON; empty for the server's own sandbox. */
  readonly settings: string;
  readonly founding: string;
  readonly previous: string;
}

const inflate = promisify(zlib.inflateRaw);

// Most of a snapshot is its journal, whose requests resemble each other. In this thread, it takes half the processor time.
function packed(text: string): string {
  return zlib.deflateRawSync(text, { level: 1, chunkSize: 65_536 }).toString("base64");
}

/** Reads a sandbox; resolves to when it ended if that is known, or to `undefined`. */
export async function loadSandbox(
  { run }: RedisConnection,
  keys: readonly string[],
  id: string,
): Promise<Loaded | EndedInstance | undefined> {
  const reply = (await run(loadScript, keys, [id])) as string[];
  if (reply[0] === "gone") return endOf(reply[1] as string);
  const [snapshot = "", position = "", found, settings = "", founding = "", previous = ""] = reply;
  const text = String(await inflate(Buffer.from(snapshot, "base64")));
  const batches = batchesOf(found as unknown as readonly Reply[]);
  return { state: JSON.parse(text), position, batches, settings, founding, previous };
}

/** Reads batches from a reply of Redis. */
export function batchesOf(found: readonly Reply[]): StoredBatch[] {
  return (found as readonly [string, readonly string[]][]).map(([position, [, texts = ""]]) => ({
    position,
    texts: texts.split(separator),
  }));
}

// Why and when an instance ended.
function endOf(text: string): EndedInstance | undefined {
  const [ended, at] = text.split(" ");
  return ended === "removed" || ended === "expired" ? { ended, at: Number(at) } : undefined;
}

/** Starts a sandbox at an instant (epoch milliseconds), equal on every server. */
export function startAt(
  at: number,
  source: NamedScenario,
  given: GivenOptions,
  idGroup?: number,
): SandboxState {
  const { scenario, name, text } = source;
  const time = () => at;
  const platform = { ...nodePlatform, time, steadyTime: time, stopwatch: time };
  return startSandbox(scenario, { platform, name, text, ...checkedOptions(given), given, idGroup });
}

interface Listed {
  readonly settings: string;
  readonly most: number;
  readonly expiresAt: number;
}

/** Creates a sandbox in Redis unless it exists; resolves to `created`, `exists` or `full`. */
export function createIn(
  { run }: RedisConnection,
  prefix: string,
  id: string,
  state: SavedSandbox,
  { founding = "", listed }: { readonly founding?: string; readonly listed?: Listed },
) {
  const [hash, log, list] = storeKeys(prefix).of(id);
  // No two sandboxes share a position.
  const position = `0-${nodePlatform.random()}`;
  const { settings = "", most = 0, expiresAt } = listed ?? {};
  return run(
    createScript,
    [hash, log, list],
    [
      ...[packed(JSON.stringify(withShortJournal(state))), position, founding],
      ...[listed === undefined ? "" : id, settings, String(most)],
      expiresAt === undefined ? "" : String(Math.ceil(expiresAt)),
    ],
  );
}

/** Replaces the snapshot of a sandbox with one at a later position. */
export function compactIn({ run }: RedisConnection, keys: readonly string[], position: string, text: string) {
  const [time, number] = position.split("-");
  const next = `${time}-${Number(number) + 1}`;
  return run(compactScript, keys.slice(0, 2), [position, next, packed(text)]);
}
