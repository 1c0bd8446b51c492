import { handle } from "../../api/handle.js";
import { type Environment, environments } from "../../domain/api-key.js";
import { type RandomStream, randomStream } from "../../domain/seed.js";
import { nodePlatform } from "../../node/platform.js";
import { secretFrom } from "../../scenario/generated-values.js";
import { countUnread, type Runtime } from "../../world/runtime.js";
import type { RuntimeState } from "../../world/state.js";
import type { Platform } from "../../world/world.js";
import type { InstanceList } from "../instances.js";
import type { ControlCall, ControlPlace, NewSecret, RunIn } from "../log.js";
import type { Entry, NewKeyHashes, ServerContent } from "./entries.js";
import { hashOf } from "./mask.js";
import type { LogEntry, LogSnapshot } from "./shared-log.js";

/** The part of an entry that only its own replica has. */
export interface OwnPart {
  readonly read?: RunIn;
  readonly baseUrl?: () => string;
  /** The random numbers of a key whose hashes are in the entry. */
  readonly keyWords?: RandomStream;
  /** The secrets whose hashes are in the entry. */
  readonly newSecrets?: readonly NewSecret[];
}

/** The outcome of an entry, the same in every copy. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

/** A sandbox in a snapshot. */
export interface SandboxState {
  readonly own: RuntimeState;
}

/** The copied sandbox, which must use only the copy's platform. */
export interface Copied<State extends SandboxState> {
  /** Available after the first start. */
  readonly runtime: () => Runtime;
  readonly restore: (state: State) => void;
  readonly describe: () => State;
  /** The server's instances. Default: the sandbox is an instance itself. */
  readonly instances?: InstanceList;
  /** Applies entries that only a server's log contains. */
  readonly applyServer?: (content: ServerContent) => unknown;
}

/** What a copy provides to its sandbox. */
export interface CopyPlatform {
  readonly platform: Platform;
  /** Returns the id of the instance that the entry creates. */
  readonly newId: () => string;
}

export type RunCall = (call: ControlCall, place: ControlPlace) => unknown;

/** The limit of an instance's journal in a snapshot, in bytes: the next replica that loads the instance reads it all. */
const journalInSnapshot = 4e6;
const noHashes: readonly string[] = [];

export type Copy = ReturnType<typeof createCopy>;

/**
 * Creates a replica's copy of a sandbox. Only entries change it.
 *
 * The same entries result in equal copies: time, randomness and hashes of keys come from the entry, and time stops between
 * entries.
 */
export function createCopy<State extends SandboxState>(
  runCall: RunCall,
  copy: (platform: CopyPlatform) => Copied<State>,
) {
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
      if (random === undefined) throw new Error("an entry drew randomness that it does not contain");
      return random();
    },
  };
  const copied = copy({
    platform,
    newId() {
      if (newId === undefined) throw new Error("an entry created an instance without its id");
      return newId;
    },
  });
  let isStarted = false;

  // Every copy continues from the description, which may omit details.
  const restore = (state: State) => {
    now = state.own.at;
    copied.restore(state);
    applied = 0;
    characters = 0;
  };
  // Other replicas use a fixed key with the hash of the new one.
  const drawKey = (newKey: NewKeyHashes, own: OwnPart | undefined) => {
    random = own?.keyWords ?? standInStream();
    if (own?.keyWords !== undefined) return;
    const standIn = (environment: Environment) => secretFrom(standInStream(), { environment, legacy: false });
    hashes = environments.flatMap((one) => [standIn(one), newKey[one]]);
  };
  const compact = (position: string): LogSnapshot => {
    const before = nodePlatform.stopwatch();
    if (copied.instances === undefined) copied.runtime().history.keep(journalInSnapshot);
    const state = copied.describe();
    const text = JSON.stringify(state);
    // Most of a snapshot is its requests, which never change: parsing them again would only take time.
    const { exchanges } = state.own;
    const rest: State = JSON.parse(JSON.stringify({ ...state, own: { ...state.own, exchanges: [] } }));
    restore({ ...rest, own: { ...rest.own, exchanges } });
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
        if (secret === undefined) throw new Error("an entry created a secret that it does not contain");
        return secret;
      },
    });
    switch (entry.kind) {
      case "request": {
        const { hashes: masked, traits = 0, fromStory = false, ...request } = entry.request;
        hashes = masked;
        return handle(runtime.world(), { ...request, traits, fromStory });
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
    /** Returns the time of the last entry (epoch milliseconds). */
    now: () => now,
    /** Returns the number of entries since the last snapshot. */
    applied: () => applied,
    /** Returns the characters of these entries and of the newest snapshot, and the milliseconds that the snapshot took. */
    sizes: () => ({ characters, snapshotCharacters, snapshotMs }),
    /** Starts where the replica starts to follow the log. */
    startFrom({ text }: LogSnapshot): void {
      restore(JSON.parse(text));
      if (isStarted) {
        // The followers' events have a gap.
        const { name, seed } = copied.runtime().world();
        copied.runtime().history.announce({ type: "world.started", scenario: name, seed });
      }
      isStarted = true;
    },
    /** Applies an entry. The replica that appended it passes its own part, and gets the secret of a new key. */
    apply(entry: Entry, { at, position, text }: LogEntry, own?: OwnPart): Outcome {
      now = at;
      applied += 1;
      characters += text.length;
      try {
        const value = run(entry, position, own);
        // Other replicas' entries matter only for their synchronous effects.
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
