import { handle } from "../../api/handle.js";
import { type Environment, environments } from "../../domain/api-key.js";
import { type RandomStream, randomStream } from "../../domain/seed.js";
import type { Connection } from "../../history/exchange.js";
import { nodePlatform } from "../../node/platform.js";
import { countUnread, type Runtime } from "../../world/runtime.js";
import { secretFrom } from "../../world/scenario-keys.js";
import type { RuntimeState } from "../../world/state.js";
import type { Platform } from "../../world/world.js";
import type { InstanceList } from "../instances.js";
import type { ControlCall, ControlPlace, NewSecret, RunIn } from "../log.js";
import type { Entry, NewKeyHashes, ServerContent } from "./entries.js";
import { hashOf } from "./mask.js";
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

/** A sandbox as a snapshot has it. */
export interface SandboxState {
  readonly own: RuntimeState;
}

/** The sandbox that a copy is of; made with the copy's platform alone. */
export interface Copied<State extends SandboxState> {
  /** There from the first start on. */
  readonly runtime: () => Runtime;
  /** Starts from the beginning, again when the log was lost. */
  readonly begin: () => void;
  readonly restore: (state: State) => void;
  readonly describe: () => State;
  /** The server's instances. Default: it is one. */
  readonly instances?: InstanceList;
  /** Applies what only the log of a server has. */
  readonly applyServer?: (content: ServerContent) => unknown;
}

/** What a copy gives the sandbox that it is of. */
export interface CopyPlatform {
  readonly platform: Platform;
  /** Returns the id of an instance that the entry makes. */
  readonly newId: () => string;
}

export type RunCall = (call: ControlCall, place: ControlPlace) => unknown;

const mostConnections = 10_000;
/** The most bytes of an instance's journal in a snapshot: who uses the instance next reads it whole. */
const journalInSnapshot = 4e6;
const noHashes: readonly string[] = [];

export type Copy = ReturnType<typeof createCopy>;

/**
 * Makes one replica's copy of a sandbox, which entries change and nothing else.
 *
 * The same entries make the same of every copy: time, randomness and the hashes of keys are those of the entry, and
 * between two entries time stands still.
 */
export function createCopy<State extends SandboxState>(
  runCall: RunCall,
  copy: (platform: CopyPlatform) => Copied<State>,
) {
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
    sha256: (text) => (typeof text === "string" && hashOf(text, hashes)) || nodePlatform.sha256(text),
    random() {
      if (random === undefined) throw new Error("an entry drew randomness that it does not hold");
      return random();
    },
  };
  const copied = copy({
    platform,
    newId() {
      if (newId === undefined) throw new Error("an entry made an instance without its id");
      return newId;
    },
  });
  let isStarted = false;

  // Every copy continues from the description, whatever that leaves out.
  const restore = (state: State) => {
    now = state.own.at;
    copied.restore(state);
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
    hashes = environments.flatMap((one) => [standIn(one), newKey[one]]);
  };
  const compact = (position: string): LogSnapshot => {
    const before = nodePlatform.stopwatch();
    if (copied.instances === undefined) copied.runtime().history.keep(journalInSnapshot);
    const text = JSON.stringify(copied.describe());
    restore(JSON.parse(text));
    snapshotMs = nodePlatform.stopwatch() - before;
    snapshotCharacters = text.length;
    return { position, text };
  };
  const run = (entry: Entry, position: string, own: OwnPart | undefined): unknown => {
    const runtime = copied.runtime();
    const place = (): ControlPlace => ({
      runtime,
      instances: copied.instances,
      isGone: false,
      baseUrl: own?.baseUrl ?? (() => ""),
      newSecret() {
        const secret = newSecrets.shift();
        if (secret === undefined) throw new Error("an entry made a secret that it does not hold");
        return secret;
      },
    });
    switch (entry.kind) {
      case "request": {
        const { connection, request } = entry;
        const {
          method,
          path,
          apiKey,
          keysInPath,
          traits = 0,
          evidence,
          content,
          fromStory = false,
        } = request;
        hashes = request.hashes;
        return handle(runtime.world(), {
          ...{ method, path, apiKey, keysInPath, traits, evidence, content, fromStory },
          connection: connection && connectionOf(connection),
        });
      }
      case "call":
        newId = entry.newId;
        newSecrets = [
          ...(own?.newSecrets ?? entry.newSecrets?.map((sha256) => ({ text: "", sha256 })) ?? []),
        ];
        if (entry.newKey !== undefined) drawKey(entry.newKey, own);
        return runCall(entry.call, place());
      case "look":
        runtime.world();
        return own?.read?.(place());
      case "unread":
        return countUnread(runtime, entry.id);
      case "discard":
        return runtime.history.keep(entry.most);
      case "compact":
        return applied < entry.least ? undefined : compact(position);
      default:
        return copied.applyServer?.(entry);
    }
  };
  return {
    runtime: copied.runtime,
    /** The time of the last entry (epoch milliseconds). */
    now: () => now,
    /** The number of entries since the last snapshot. */
    applied: () => applied,
    /** The sizes of those entries and of the newest snapshot, in characters, and the milliseconds that it took to make. */
    sizes: () => ({ characters, snapshotCharacters, snapshotMs }),
    /** Starts from the point from which a log is followed. */
    startFrom({ foundedAt, snapshot }: LogStart): void {
      now = foundedAt;
      connections.clear();
      applied = 0;
      characters = 0;
      if (snapshot === undefined) copied.begin();
      else restore(JSON.parse(snapshot.text));
      if (isStarted) {
        // Whoever follows the events has missed some.
        const { name, seed } = copied.runtime().world();
        copied.runtime().history.announce({ type: "world.started", scenario: name, seed });
      }
      isStarted = true;
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
