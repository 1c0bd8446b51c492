import { handle } from "../api/handle.js";
import { hashOf, type MaskedRequest, maskRequest, unmaskedRequest } from "../api/mask.js";
import { withCheckedInput } from "../api/response.js";
import { routedPath } from "../api/routes.js";
import type { ControlCall, ControlPlace } from "../log/log.js";
import { markUnread } from "../log/memory-log.js";
import { nodePlatform } from "../node/platform.js";
import { latestOf } from "../sandbox/journal/exchange.js";
import { settled } from "../sandbox/operations/operations.js";
import type { Platform, SandboxState } from "../sandbox/sandbox.js";
import {
  describeSandbox,
  restoreSandbox,
  type SandboxSettings,
  type SavedSandbox,
} from "../sandbox/start.js";
import { secretFrom } from "../scenario/population.js";
import { environments } from "../spec/api-key.js";
import { SandboxError } from "../spec/errors.js";
import { redactEncoded, redactValue } from "../spec/redact.js";
import type { ApiRequest } from "../spec/request.js";
import { type RandomStream, randomStream } from "../spec/seed.js";
import { type StoredBatch, separator } from "./redis-scripts.js";

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

/** The options of later scenarios, and of the sandbox. */
export type CopyOptions = Omit<SandboxSettings, "platform">;

/** What the platform of a copy returns while an entry is applied: its time, and what it has for a new key. */
interface Moment {
  now: number;
  hashes: readonly string[];
  random: RandomStream | undefined;
}

/**
 * A server's copy of a sandbox in a store. Only entries change it.
 *
 * The same entries result in equal copies: time, randomness and hashes of keys come from the entry, and time stops between
 * entries.
 */
export interface SandboxCopy {
  readonly runtime: SandboxState;
  readonly runCall: RunCall;
  readonly moment: Moment;
  startedAt: number;
  /** Why an entry could not be applied: since then, the copy is not the sandbox. */
  broken: SandboxError | undefined;
  /** The entries since the snapshot, and their characters. */
  sizes: { entries: number; characters: number };
}

export function openCopy(first: SavedSandbox, options: CopyOptions, runCall: RunCall): SandboxCopy {
  const moment: Moment = { now: first.at, hashes: [], random: undefined };
  const runtime = restored(first, platformAt(moment), options);
  return {
    runtime,
    runCall,
    moment,
    startedAt: first.at,
    broken: undefined,
    sizes: { entries: 0, characters: 0 },
  };
}

function platformAt(moment: Moment): Platform {
  const time = () => moment.now;
  return {
    ...{ ...nodePlatform, time, steadyTime: time, stopwatch: time },
    sha256: (text) => (typeof text === "string" && hashOf(text, moment.hashes)) || nodePlatform.sha256(text),
    random() {
      if (moment.random === undefined) throw new Error("an entry drew randomness that it does not contain");
      return moment.random();
    },
  };
}

function restored(...given: Parameters<typeof restoreSandbox>): SandboxState {
  const runtime = restoreSandbox(...given);
  runtime.idSeries.last = settled(runtime).requestIds.series();
  return runtime;
}

export function isCopyDue({ runtime, moment }: SandboxCopy, time: number): boolean {
  const { timeline, clock } = settled(runtime);
  return timeline.dueAt <= clock.now() + (clock.isFrozen() ? 0 : time - moment.now);
}

/** Reads at a time when nothing is due. */
export function readCopy<Result>({ moment }: SandboxCopy, time: number, read: () => Result): Result {
  moment.now = Math.max(moment.now, time);
  return read();
}

export function restartCopy(copy: SandboxCopy, state: SavedSandbox): void {
  copy.moment.now = copy.startedAt = state.at;
  copy.broken = undefined;
  continueFrom(copy, state);
  const { history } = copy.runtime;
  // The description does not contain earlier requests, so that the followers' events have a gap.
  history.keep(Number.POSITIVE_INFINITY);
  const { name, seed } = settled(copy.runtime);
  history.announce({ type: "world.started", scenario: name, seed });
}

/** Applies an entry that was stored at a position; throws its error. The server that appended it passes its own part. */
export function applyEntry(
  copy: SandboxCopy,
  entry: Entry,
  at: string,
  length: number,
  own: OwnPart = {},
): unknown {
  copy.moment.now = Math.max(copy.startedAt, Number.parseInt(at, 10));
  copy.sizes.entries += 1;
  copy.sizes.characters += length;
  try {
    return run(copy, entry, own);
  } finally {
    Object.assign(copy.moment, { hashes: [], random: undefined });
  }
}

/** Applies a batch of another server, which reports the rejections. One that cannot be applied stays for a person to decide. */
export function applyBatch(copy: SandboxCopy, [position, [, texts]]: StoredBatch, broken: Broken): void {
  for (const text of texts.split(separator)) {
    if (copy.broken !== undefined) return;
    try {
      applyEntry(copy, JSON.parse(text), position, text.length);
    } catch (error) {
      // A rejection is an outcome.
      if (!(error instanceof SandboxError)) copy.broken = broken(position, error);
    }
  }
}

/** Returns what every later request of a sandbox gets. */
export type Broken = (position: string, error: unknown) => SandboxError;

function run(copy: SandboxCopy, entry: Entry, { place, read, words }: OwnPart): unknown {
  const { runtime, moment } = copy;
  switch (entry.kind) {
    case "request":
      moment.hashes = entry.request.hashes;
      return handle(settled(runtime), unmaskedRequest(entry.request));
    case "call": {
      if (entry.newKey !== undefined) useKey(moment, entry.newKey, words);
      // Runs what is due first.
      settled(runtime);
      return copy.runCall(entry.call, place ?? { runtime, instances: undefined, baseUrl: () => "" });
    }
    case "look":
      settled(runtime);
      return read?.();
    case "unread":
      return markUnread(runtime, entry.id);
    case "compact":
      return copy.sizes.entries < entry.least ? undefined : compact(copy, entry.journal);
    default:
      throw new Error("an entry of another version");
  }
}

const secretsOf = (words: () => RandomStream) =>
  environments.map((environment) => secretFrom(words(), { environment, legacy: false }));

/** Draws the random numbers of a key. The hashes are for both environments, since the call decides later. */
function drawKey() {
  const drawn: number[] = [];
  const words = (): RandomStream => {
    let next = 0;
    return () => {
      next += 1;
      drawn[next - 1] ??= nodePlatform.random();
      return drawn[next - 1] as number;
    };
  };
  return { newKey: secretsOf(words).map((secret) => nodePlatform.sha256(secret)), words: words() };
}

const standIn = () => randomStream(0, "stand-in");

// Other servers use a fixed key with the hash of the new one.
function useKey(moment: Moment, newKey: readonly string[], words: RandomStream | undefined): void {
  moment.random = words ?? standIn();
  if (words !== undefined) return;
  moment.hashes = secretsOf(standIn).flatMap((fixed, index) => [fixed, newKey[index] as string]);
}

/** Returns the entry of a request, which is checked only here. */
export function entryOfRequest({ runtime }: SandboxCopy, request: ApiRequest): Entry {
  const world = settled(runtime);
  const path = routedPath(world, request.path);
  return {
    kind: "request",
    request: maskRequest(withCheckedInput(world, request), nodePlatform.sha256, path),
  };
}

/** Returns the entry of a call, and the numbers of a key that it makes. */
export function entryOfCall({ makes, ...call }: ControlCall): [Entry, Pick<OwnPart, "words">] {
  const entry = { kind: "call", call: maskCall(call) } as const;
  if (makes !== "key") return [entry, {}];
  const { newKey, words } = drawKey();
  return [{ ...entry, newKey }, { words }];
}

/**
 * Shortens every key in a call to the control plane, where no key belongs. A scenario's pinned keys stay: the sandbox and
 * state files also contain them.
 */
export function maskCall({ params, body, ...call }: ControlCall): ControlCall {
  const isScenario = (name: string, member: unknown) => name === "scenario" && typeof member !== "string";
  const masked = <Value>(value: Value) => redactValue(value, redactEncoded, isScenario);
  return { ...call, params: masked(params), body: call.isYaml ? body : masked(body) };
}

function compact(copy: SandboxCopy, journal: number): string {
  const state = withShortJournal(describeSandbox(copy.runtime), journal);
  const { exchanges } = state;
  // Every copy continues from the description as JSON. Requests never change, so that parsing them would only take time.
  const text = JSON.stringify(state);
  const rest: SavedSandbox = JSON.parse(JSON.stringify({ ...state, exchanges: [] }));
  continueFrom(copy, { ...rest, exchanges });
  copy.runtime.history.keep(keptJournal.bytes, journal);
  return text;
}

function continueFrom(copy: SandboxCopy, state: SavedSandbox): void {
  restored(state, copy.runtime.platform, copy.runtime, copy.runtime);
  copy.sizes = { entries: 0, characters: 0 };
}

/** Returns a state with at most a number of requests in its journal, and about as many bytes as after a compaction. */
export function withShortJournal(state: SavedSandbox, journal = keptJournal.requests): SavedSandbox {
  const latest = journal === 0 ? [] : state.exchanges.slice(-journal);
  return { ...state, exchanges: latestOf(latest, keptJournal.bytes) };
}
