import { handle } from "../api/handle.js";
import { hashOf, type MaskedRequest, unmaskedRequest } from "../api/mask.js";
import { type ControlCall, type ControlPlace, controlPlace } from "../log/log.js";
import { markUnread } from "../log/memory-log.js";
import { nodePlatform } from "../node/platform.js";
import { latestOf } from "../sandbox/journal/exchange.js";
import { settled } from "../sandbox/operations/operations.js";
import type { GivenOptions, Platform, SandboxState } from "../sandbox/sandbox.js";
import { describeSandbox, restoreSandbox, type SavedSandbox } from "../sandbox/start.js";
import { secretFrom } from "../scenario/population.js";
import { type Environment, environments } from "../spec/api-key.js";
import { type RandomStream, randomStream } from "../spec/seed.js";

/** An event of a sandbox in a store, in the order of its log. */
export type Entry =
  | { readonly kind: "request"; readonly request: MaskedRequest }
  /** With the SHA-256 of a key that it may create, for each environment; never the key. */
  | { readonly kind: "call"; readonly call: ControlCall; readonly newKey?: readonly string[] }
  /** A read that advances time. Only its own server uses the result. */
  | { readonly kind: "look" }
  /** A client did not wait for a response that a fault delayed. */
  | { readonly kind: "unread"; readonly id: string }
  /** Shortens the journal, and continues from the state's description. Ignored after fewer than `least` entries. */
  | { readonly kind: "compact"; readonly least: number; readonly journal: number };

/** The part of an entry that only its own server has: the place of a call, a read, the random numbers of a key whose hashes it has. */
export interface OwnPart {
  readonly place?: ControlPlace;
  readonly read?: (() => unknown) | undefined;
  readonly words?: RandomStream;
}

export type RunCall = (call: ControlCall, place: ControlPlace) => unknown;

/** The requests of a journal that a compaction keeps: at most so many, and about so many bytes. */
export const keptJournal = { requests: 100, bytes: 100_000 };

const noHashes: readonly string[] = [];
const standIn = () => randomStream(0, "stand-in");

/**
 * Creates a server's copy of a sandbox in a store. Only entries change it.
 *
 * The same entries result in equal copies: time, randomness and hashes of keys come from the entry, and time stops between
 * entries.
 */
export function createSandboxCopy(
  first: SavedSandbox,
  options: { readonly given: GivenOptions; readonly idGroup?: number | undefined },
  runCall: RunCall,
) {
  let now = first.at;
  let startedAt = now;
  let hashes = noHashes;
  let random: RandomStream | undefined;
  /** The entries since the snapshot, and their characters. */
  let entries = 0;
  let characters = 0;
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
  const runtime = restoreSandbox(first, platform, options);
  const restored = () => {
    runtime.idSeries.last = settled(runtime).requestIds.series();
    [entries, characters] = [0, 0];
  };
  restored();
  // Other servers use a fixed key with the hash of the new one.
  const useKey = (newKey: readonly string[], words: RandomStream | undefined) => {
    random = words ?? standIn();
    if (words !== undefined) return;
    const fixed = (environment: Environment) => secretFrom(standIn(), { environment, legacy: false });
    hashes = environments.flatMap((one, index) => [fixed(one), newKey[index] as string]);
  };
  const compact = (journal: number): string => {
    const state = withShortJournal(describeSandbox(runtime), journal);
    const { exchanges } = state;
    // Every copy continues from the description as JSON. Requests never change, so that parsing them would only take time.
    const text = JSON.stringify(state);
    const rest: SavedSandbox = JSON.parse(JSON.stringify({ ...state, exchanges: [] }));
    restoreSandbox({ ...rest, exchanges }, platform, options, runtime);
    runtime.history.keep(keptJournal.bytes, journal);
    restored();
    return text;
  };
  const run = (entry: Entry, { place, read, words }: OwnPart): unknown => {
    switch (entry.kind) {
      case "request":
        ({ hashes } = entry.request);
        return handle(settled(runtime), unmaskedRequest(entry.request));
      case "call": {
        if (entry.newKey !== undefined) useKey(entry.newKey, words);
        // Runs what is due first.
        settled(runtime);
        return runCall(
          entry.call,
          place ?? controlPlace({ runtime, instance: undefined, baseUrl: () => "" }),
        );
      }
      case "look":
        settled(runtime);
        return read?.();
      case "unread":
        return markUnread(runtime, entry.id);
      case "compact":
        return entries < entry.least ? undefined : compact(entry.journal);
    }
  };
  return {
    runtime: runtime as SandboxState,
    sizes: () => ({ entries, characters }),
    isDue(time: number): boolean {
      const { timeline, clock } = settled(runtime);
      return timeline.dueAt <= clock.now() + (clock.isFrozen() ? 0 : time - now);
    },
    /** Reads at a time when nothing is due. */
    read<Result>(time: number, read: () => Result): Result {
      now = Math.max(now, time);
      return read();
    },
    start(state: SavedSandbox): void {
      now = startedAt = state.at;
      restoreSandbox(state, platform, options, runtime);
      restored();
      // The description does not contain earlier requests, so that the followers' events have a gap.
      runtime.history.keep(Number.POSITIVE_INFINITY);
      const { name, seed } = settled(runtime);
      runtime.history.announce({ type: "world.started", scenario: name, seed });
    },
    /** Applies an entry that was stored at a position; throws its error. The server that appended it passes its own part. */
    apply(entry: Entry, at: string, length: number, own: OwnPart = {}): unknown {
      now = Math.max(startedAt, Number.parseInt(at, 10));
      entries += 1;
      characters += length;
      try {
        return run(entry, own);
      } finally {
        hashes = noHashes;
        random = undefined;
      }
    },
  };
}

/** Returns a state with at most a number of requests in its journal, and about as many bytes as after a compaction. */
export function withShortJournal(state: SavedSandbox, journal = keptJournal.requests): SavedSandbox {
  const latest = journal === 0 ? [] : state.exchanges.slice(-journal);
  return { ...state, exchanges: latestOf(latest, keptJournal.bytes) };
}
