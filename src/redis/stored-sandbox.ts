import { promisify } from "node:util";
import zlib from "node:zlib";
import { checkedOptions } from "../library/create-sandbox.js";
import type { EndedInstance } from "../log/instances.js";
import { nodePlatform } from "../node/platform.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox.js";
import { type SavedSandbox, startSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import type { RedisConnection } from "./redis-connection.js";
import { compactScript, createScript, loadScript, type StoredBatch } from "./redis-scripts.js";
import { withShortJournal } from "./sandbox-copy.js";

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
export function packed(text: string): string {
  return zlib.deflateRawSync(text, { level: 1, chunkSize: 65_536 }).toString("base64");
}

/** Reads a sandbox; resolves to when it ended if that is known, or to `undefined`. */
export async function loadSandbox(
  { run, keys }: RedisConnection,
  id: string,
): Promise<Loaded | EndedInstance | undefined> {
  const reply = (await run(loadScript, keys.of(id), [id])) as string[];
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
export function createIn(
  { run, keys }: RedisConnection,
  id: string,
  state: SavedSandbox,
  own: string | Listed,
) {
  // No two sandboxes share a position.
  const position = `0-${nodePlatform.random()}`;
  const snapshot = packed(JSON.stringify(withShortJournal(state)));
  const rest =
    typeof own === "string"
      ? [own, "", "", "0", ""]
      : ["", id, own.settings, String(own.most), String(Math.ceil(own.expiresAt))];
  return run(createScript, keys.of(id).slice(0, 3), [snapshot, position, ...rest]);
}

/** Replaces the snapshot of a sandbox with one at a later position. */
export function compactIn({ run, keys }: RedisConnection, id: string, position: string, text: string) {
  const [time, number] = position.split("-");
  const next = `${time}-${Number(number) + 1}`;
  return run(compactScript, keys.of(id).slice(0, 2), [position, next, packed(text)]);
}
