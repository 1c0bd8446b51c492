import { handle } from "../../api/handle.js";
import { type Environment, environments } from "../../domain/api-key.js";
import { type RandomStream, randomStream } from "../../domain/seed.js";
import type { Connection } from "../../history/exchange.js";
import { nodePlatform } from "../../node/platform.js";
import { countUnread, createRuntime, type GivenOptions, type Runtime } from "../../world/runtime.js";
import { secretFrom } from "../../world/scenario-keys.js";
import { restoreRuntime } from "../../world/state.js";
import type { Platform, World } from "../../world/world.js";
import {
  createInstances,
  describeServer,
  type Instances,
  runtimesOf,
  type ServerState,
} from "../instances.js";
import type { ControlCall, ControlPlace, NewSecret, RunIn } from "../log.js";
import type { Entry, NewKeyHashes } from "./entries.js";
import type { LogEntry, LogSnapshot, LogStart } from "./shared-log.js";

/** What the replica that appended an entry keeps of it. */
export interface OwnPart {
  readonly read?: RunIn;
  readonly baseUrl?: () => string;
  /** The random numbers of the key whose hashes are in the entry. */
  readonly keyWords?: RandomStream;
  /** The secrets whose hashes are in the entry. */
  readonly newSecrets?: readonly NewSecret[];
}

/** What came of an entry, here and in every other copy. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

export interface CopyOptions {
  /** Returns the first world of the server's own sandbox; it has to be made with this platform alone. */
  readonly start: (platform: Platform) => World;
  readonly given: GivenOptions;
  readonly maxInstances: number;
  readonly runCall: (call: ControlCall, place: ControlPlace) => unknown;
}

interface Sandboxes {
  readonly runtime: Runtime;
  readonly instances: Instances;
}

const mostConnections = 10_000;
/** The bytes of the journals of all instances in a snapshot: a late replica reads it whole. */
const journalsInSnapshot = 4e6;
const noHashes: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Makes the copy of one replica, which entries change and nothing else.
 *
 * The same entries make the same of every copy: time, randomness and the hashes of keys are those of the entry, and
 * between two entries time stands still.
 */
export function createCopy({ start, given, maxInstances, runCall }: CopyOptions) {
  let sandboxes: Sandboxes | undefined;
  const connections = new Map<string, Connection>();
  /** The entries since the last snapshot. */
  let applied = 0;
  let characters = 0;
  let snapshotCharacters = 0;
  let snapshotMs = 0;

  let now = 0;
  let hashes = noHashes;
  let random: RandomStream | undefined;
  let newId: string | undefined;
  let newSecrets: NewSecret[] = [];
  const platform: Platform = {
    ...nodePlatform,
    time: () => now,
    steadyTime: () => now,
    stopwatch: () => now,
    sha256: (text) =>
      typeof text === "string" && Object.hasOwn(hashes, text)
        ? (hashes[text] as string)
        : nodePlatform.sha256(text),
    random() {
      if (random === undefined) throw new Error("an entry drew randomness that it does not hold");
      return random();
    },
  };

  const instancesOf = (server: Runtime) =>
    createInstances({
      ...{ most: maxInstances, server, platform },
      newId() {
        if (newId === undefined) throw new Error("an entry made an instance without its id");
        return newId;
      },
    });
  const open = (runtime: Runtime): Sandboxes => {
    sandboxes = { runtime, instances: instancesOf(runtime) };
    return sandboxes;
  };
  const begin = () => {
    const first = () => start(platform);
    if (sandboxes === undefined) {
      open(createRuntime(first, { given }));
      return;
    }
    const { runtime, instances } = sandboxes;
    instances.restore([]);
    const world = first();
    runtime.replace(world, first);
    runtime.counters.clear();
    runtime.idSeries.last = world.requestIds.series();
  };
  // Every copy continues from the description, whatever that leaves out.
  const restore = ({ own, instances, idSeries }: ServerState) => {
    now = own.at;
    const runtime = restoreRuntime(own, platform, { given }, sandboxes?.runtime);
    const here = sandboxes ?? open(runtime);
    here.instances.restore(instances);
    runtime.idSeries.last = idSeries;
    connections.clear();
    applied = 0;
    characters = 0;
  };

  const connectionOf = ([name, repeats]: readonly [string, number | null]): Connection => {
    const known = connections.get(name);
    if (known !== undefined) return known;
    if (connections.size === mostConnections) connections.delete(connections.keys().next().value as string);
    const connection = { repeatsOfLoop: repeats ?? Number.POSITIVE_INFINITY };
    connections.set(name, connection);
    return connection;
  };
  // Another key of the same hash stands for the one that the appender alone knows.
  const drawKey = (newKey: NewKeyHashes, own: OwnPart | undefined) => {
    random = own?.keyWords ?? standInStream();
    if (own?.keyWords !== undefined) return;
    const standIn = (environment: Environment) => secretFrom(standInStream(), { environment, legacy: false });
    hashes = Object.fromEntries(environments.map((one) => [standIn(one), newKey[one]]));
  };
  const run = (entry: Entry, position: string, own: OwnPart | undefined): unknown => {
    const { runtime, instances } = sandboxes as Sandboxes;
    const inside = entry.instance === undefined ? undefined : instances.use(entry.instance);
    const isGone = entry.instance !== undefined && inside === undefined;
    const here = inside?.runtime ?? runtime;
    const place = (): ControlPlace => ({
      runtime: here,
      instances: entry.instance === undefined ? instances : undefined,
      isGone,
      baseUrl: own?.baseUrl ?? (() => ""),
      newSecret() {
        const secret = newSecrets.shift();
        if (secret === undefined) throw new Error("an entry made a secret that it does not hold");
        return secret;
      },
    });
    switch (entry.kind) {
      case "request": {
        const { request, connection } = entry;
        hashes = request.hashes;
        // What leads into an instance that is gone is an unknown path.
        const path = isGone ? `/i/${entry.instance}${request.path}` : request.path;
        const asked = { ...request, path, connection: connection && connectionOf(connection) };
        return handle(here.world(), asked);
      }
      case "call":
        newId = entry.newId;
        newSecrets = [
          ...(own?.newSecrets ?? entry.newSecrets?.map((sha256) => ({ text: "", sha256 })) ?? []),
        ];
        if (entry.newKey !== undefined) drawKey(entry.newKey, own);
        return runCall(entry.call, place());
      case "look":
        here.world();
        return own?.read?.(place());
      case "unread":
        return countUnread(here, entry.id);
      case "sweep":
        return instances.sweep(entry.ttl);
      case "discard":
        return instances.discardJournals();
      case "compact": {
        if (applied < entry.least) return undefined;
        const before = nodePlatform.stopwatch();
        instances.keepJournals(journalsInSnapshot);
        const text = JSON.stringify(describeServer({ runtime, instances }));
        restore(JSON.parse(text));
        snapshotMs = nodePlatform.stopwatch() - before;
        snapshotCharacters = text.length;
        return { position, text } satisfies LogSnapshot;
      }
    }
  };
  return {
    /** The sandboxes; there from the first start on. */
    sandboxes: () => sandboxes as Sandboxes,
    /** The time of the last entry (epoch milliseconds). */
    now: () => now,
    /** The number of entries since the last snapshot. */
    applied: () => applied,
    /** The sizes of those entries and of the newest snapshot, in characters, and the milliseconds that it took to make. */
    sizes: () => ({ characters, snapshotCharacters, snapshotMs }),
    /** Starts from the point from which a log is followed. */
    startFrom({ foundedAt, snapshot }: LogStart): void {
      const isFirst = sandboxes === undefined;
      now = foundedAt;
      connections.clear();
      applied = 0;
      characters = 0;
      if (snapshot === undefined) begin();
      else restore(JSON.parse(snapshot.text));
      if (isFirst) return;
      // Whoever follows the events has missed some.
      for (const one of runtimesOf(sandboxes as Sandboxes)) {
        const { name, seed } = one.world();
        one.history.announce({ type: "world.started", scenario: name, seed });
      }
    },
    /** Applies an entry; the replica that appended it gives its own part, and gets the secret of a key that is made. */
    apply(entry: Entry, { at, position, text }: LogEntry, own?: OwnPart): Outcome {
      now = at;
      applied += 1;
      characters += text.length;
      try {
        const value = run(entry, position, own);
        // Of other replicas' entries, only what is done at once matters.
        if (own === undefined && value instanceof Promise) value.catch(() => {});
        return { value };
      } catch (error) {
        return { error };
      } finally {
        hashes = noHashes;
        random = undefined;
        newId = undefined;
        newSecrets = [];
      }
    },
  };
}

// A fixed stream.
function standInStream(): RandomStream {
  return randomStream(0, "stand-in");
}
