import { nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import type { GivenOptions, SandboxState } from "../../sandbox/sandbox.js";
import { checkedOptions, type SavedSandbox, startSandbox } from "../../sandbox/start.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { EndedInstance, ListedInstance } from "../instances.js";
import { ownId } from "../state-format.js";
import { brokenEntry, type RedisConnection, unfitStore } from "./redis-connection.js";
import { createScript, loadScript, type StoredLine, storeFormat } from "./redis-scripts.js";

/** An instance in the list of all. */
export interface Settings extends Pick<ListedInstance, "tenancy" | "createdAt" | "name" | "seed"> {
  readonly given: GivenOptions;
  readonly idGroup: number;
}

/** A sandbox in the store: its snapshot, the position of that, and lines before and after it. */
export interface Loaded {
  readonly state: SavedSandbox;
  readonly position: string;
  readonly lines: readonly StoredLine[];
  /** `undefined` for the server's own sandbox, and for an instance that is not in the list. */
  readonly settings: Settings | undefined;
  readonly origin: string;
  /** The group of its request ids and record ids: a new one after an import or a loss, so that none is given twice. */
  readonly idGroup: number | undefined;
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
  const position = `0-${nodePlatform.random()} start`;
  const keys = connection.keys.of(id).slice(0, 3);
  return connection.runScript(createScript, keys, [JSON.stringify(state), position, ...rest, storeFormat]);
}

export function createOwn(
  connection: RedisConnection,
  state: SavedSandbox,
  origin: object,
  idGroup?: number,
) {
  return createIn(connection, ownId, state, JSON.stringify({ ...origin, idGroup }), "", "", "0", "");
}

/** `usedUntil`: when it expires if it is not used (epoch milliseconds). `max`: the maximum number of instances. */
export function createListed(
  connection: RedisConnection,
  id: string,
  state: SavedSandbox,
  about: Omit<Settings, "name" | "seed">,
  usedUntil: number,
  max = Number.POSITIVE_INFINITY,
) {
  const settings: Settings = { ...about, name: state.name, seed: state.snapshot.seed ?? 1 };
  const expiresAt = Math.ceil(about.tenancy.expiresAt ?? usedUntil);
  return createIn(connection, id, state, "", id, JSON.stringify(settings), String(max), String(expiresAt));
}

/** Reads a sandbox; resolves to when it ended if that is known, or to `undefined`. */
export async function loadSandbox(
  connection: RedisConnection,
  id: string,
): Promise<Loaded | EndedInstance | undefined> {
  const reply = (await connection.runScript(loadScript, connection.keys.of(id), [id])) as string[];
  if (reply[0] === "gone") {
    const [ended, at] = (reply[1] as string).split(" ") as [EndedInstance["ended"], string?];
    return at === undefined ? undefined : { ended, at: Number(at) };
  }
  const [format = "", snapshot = "", position = "", lines, settings, origin = ""] = reply;
  if (format === "broken") throw brokenEntry(connection.shown, nameOf(id), new Error(snapshot));
  if (format !== storeFormat) throw otherFormat(connection, format);
  try {
    const state: SavedSandbox = JSON.parse(snapshot);
    const { idGroup, ...startedWith } = JSON.parse(origin || "{}");
    const listed: Settings | undefined = settings ? JSON.parse(settings) : undefined;
    return {
      state,
      position,
      origin: JSON.stringify(startedWith),
      idGroup: idGroup ?? listed?.idGroup,
      lines: lines as unknown as readonly StoredLine[],
      settings: listed,
    };
  } catch (error) {
    throw error instanceof SandboxError
      ? error
      : brokenEntry(connection.shown, `snapshot of ${nameOf(id)}`, error);
  }
}

export const nameOf = (id: string) => (id === ownId ? "the server's own sandbox" : `the instance ${id}`);

/** While a server starts, nobody may wait for what another version wrote; later, its other replicas may still be updated. */
function otherFormat(connection: RedisConnection, format: string): SandboxError {
  const reason = `it has a sandbox in format ${format}, of another version`;
  if (connection.state !== "starting") return connection.unavailable(reason);
  const way = `This version has format ${storeFormat}. Save it with \`svc-sandbox export\` of the version that wrote it, and start with --import and another --store-prefix.`;
  return unfitStore(connection.shown, `${reason}. ${way}`);
}
