import { promisify } from "node:util";
import zlib from "node:zlib";
import { checkedOptions } from "../library/create-sandbox.js";
import type { EndedInstance, ListedInstance } from "../log/instances.js";
import { nodePlatform } from "../node/platform.js";
import type { GivenOptions, SandboxState } from "../sandbox/sandbox.js";
import { type SavedSandbox, startSandbox } from "../sandbox/start.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { type RedisConnection, runScript } from "./redis-connection.js";
import { compactScript, createScript, loadScript, ownId, type StoredBatch } from "./redis-scripts.js";
import { type CopyOptions, type RunCall, withShortJournal } from "./sandbox-copy.js";

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

/** Reads a sandbox; resolves to when it ended if that is known, or to `undefined`. Its caller applies the batches. */
export async function loadSandbox(
  { connection }: Loading,
  id: string,
): Promise<Loaded | EndedInstance | undefined> {
  const reply = (await runScript(connection, loadScript, connection.keys.of(id), [id])) as string[];
  if (reply[0] === "gone") {
    const [ended, at] = (reply[1] as string).split(" ") as [EndedInstance["ended"], string?];
    return at === undefined ? undefined : { ended, at: Number(at) };
  }
  const [snapshot = "", position = "", found, settings, founding = ""] = reply;
  const text = String(await inflate(Buffer.from(snapshot, "base64")));
  return {
    ...{ state: JSON.parse(text), position, founding, batches: found as unknown as readonly StoredBatch[] },
    settings: settings ? JSON.parse(settings) : undefined,
  };
}

export function optionsOf({ given }: Loading, { settings }: Loaded): CopyOptions {
  return { given: settings?.given ?? given, idGroup: settings?.idGroup };
}
