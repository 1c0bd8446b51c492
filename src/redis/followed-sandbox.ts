import {
  enqueue,
  enqueueAgain,
  type Followed,
  isUrgent,
  storeUnavailable,
  takeWaiting,
  type Waiting,
} from "./redis-connection.js";
import { brokenEntry, reasonOf } from "./redis-problems.js";
import { ownId } from "./redis-scripts.js";
import type { Room } from "./room.js";
import {
  applyBatch,
  applyEntry,
  type CopyOptions,
  type Entry,
  isCopyDue,
  keptJournal,
  type OwnPart,
  openCopy,
  readCopy,
  restartCopy,
  type SandboxCopy,
} from "./sandbox-copy.js";
import { compactIn, type Loaded, type Loading, loadSandbox } from "./stored-sandbox.js";

/** A sandbox is compacted after this many entries or characters, or later if its state is larger. */
const compactAfter = { entries: 256, characters: 64_000 };

export const noSandbox = Symbol("no sandbox");

interface SandboxOptions extends CopyOptions, Partial<Pick<Followed, "expires">> {
  readonly id: string;
  /** Called if the sandbox is gone. Resolves to whether it exists again. */
  readonly onGone: () => Promise<boolean>;
}

/** What all sandboxes of a server share. */
export interface Shared extends Loading {
  readonly room: Room;
  /** Whether an entry of this server is being applied. */
  isApplyingOwn: boolean;
  /** Called with a failure that no caller waits for. */
  readonly report: (error: unknown) => void;
}

/** A sandbox in a store whose entries are applied to a copy in this process, in the order of its log. */
export interface FollowedSandbox extends Followed {
  readonly options: SandboxOptions;
  readonly shared: Shared;
  readonly copy: SandboxCopy;
  /** The position of the last compaction by this server. */
  compacted: string;
  isCompacting: boolean;
  /** How much larger its state is than what usually causes a compaction; at least 1. */
  factor: number;
}

export function followSandbox(loaded: Loaded, options: SandboxOptions, shared: Shared): FollowedSandbox {
  const [hash, stream] = shared.connection.keys.of(options.id);
  const sandbox: FollowedSandbox = {
    ...{ options, shared, keys: [hash, stream], expires: options.expires ?? (() => "") },
    copy: openCopy(loaded.state, options, shared.runCall),
    ...{ position: loaded.position, loading: undefined, waiting: [] },
    ...{ compacted: "", isCompacting: false, factor: 1 },
    onReply: (...reply) => onReply(sandbox, ...reply),
  };
  applyBatches(sandbox, loaded.batches);
  return sandbox;
}

/** Appends an entry; resolves to its outcome, or to `noSandbox`. */
export function appendTo(sandbox: FollowedSandbox, entry: Entry, own: OwnPart = {}): Promise<unknown> {
  const text = JSON.stringify(entry);
  return push(sandbox, text, entry.kind, (at) => {
    if (entry.kind === "compact") sandbox.compacted = at;
    // A request is plain data. Other entries are parsed, so that every copy applies the same data.
    const parsed: Entry = entry.kind === "request" ? entry : JSON.parse(text);
    return applyEntry(sandbox.copy, parsed, at, text.length, own);
  });
}

/** Resolves to what `read` returns after applying everything that any server has acknowledged, or to `noSandbox`. */
export function lookAt(sandbox: FollowedSandbox, read?: () => unknown): Promise<unknown> {
  const { copy } = sandbox;
  return push(sandbox, "", "", (_, time) => {
    if (read === undefined) return undefined;
    return isCopyDue(copy, time) ? appendTo(sandbox, { kind: "look" }, { read }) : readCopy(copy, time, read);
  });
}

/** Shortens the journal to a number of requests, and stores a snapshot. */
export async function compactSandbox(
  sandbox: FollowedSandbox,
  journal: number = keptJournal.requests,
  least = 1,
): Promise<void> {
  const { options, shared } = sandbox;
  if (sandbox.isCompacting) return;
  sandbox.isCompacting = true;
  try {
    // Another server may compact it first.
    const text = await appendTo(sandbox, { kind: "compact", least, journal });
    if (typeof text !== "string") return;
    sandbox.factor = Math.max(1, text.length / compactAfter.characters);
    await compactIn(shared.connection, options.id, sandbox.compacted, text);
  } catch (error) {
    shared.report(error);
  } finally {
    sandbox.isCompacting = false;
  }
}

function onReply(sandbox: FollowedSandbox, ...[reply, own, time]: Parameters<Followed["onReply"]>): void {
  const { shared } = sandbox;
  const [state, stored, found] = reply;
  if (state !== "ok") {
    sandbox.loading ??= reload(sandbox).finally(() => {
      sandbox.loading = undefined;
    });
    again(sandbox, own, sandbox.loading);
    return;
  }
  applyBatches(sandbox, found);
  const isRejected = stored !== "" && !/^\d+-\d+$/.test(stored);
  const entries = own.filter(({ text }) => text !== "");
  // What is stored is applied also if its caller no longer waits. Nobody needs such a read.
  const reads = takeWaiting(
    shared.connection,
    own.filter(({ text }) => text === ""),
  );
  if (isRejected) again(sandbox, entries, makeRoom(shared, new Error(stored)));
  else if (entries.length > 0) applyStored(sandbox, entries, stored, time);
  for (const one of reads) one.onReply("", time);
}

function push(
  sandbox: FollowedSandbox,
  text: string,
  kind: string,
  outcomeOf: (at: string, time: number) => unknown,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onTurn = (at: string, time: number) => {
      try {
        if (sandbox.copy.broken !== undefined) throw sandbox.copy.broken;
        const outcome = outcomeOf(at, time);
        // Its caller may no longer wait.
        if (outcome instanceof Promise) outcome.catch(() => {});
        resolve(outcome);
      } catch (error) {
        reject(error);
      }
    };
    const { broken } = sandbox.copy;
    if (broken !== undefined) return reject(broken);
    // No spreads: this is made for each request.
    enqueue(sandbox.shared.connection, sandbox, { text, kind, resolve, reject, onReply: onTurn });
  });
}

function applyStored(sandbox: FollowedSandbox, entries: readonly Waiting[], at: string, time: number): void {
  const { shared, copy, factor } = sandbox;
  sandbox.position = at;
  takeWaiting(shared.connection, entries);
  shared.isApplyingOwn = true;
  for (const one of entries) one.onReply(at, time);
  shared.isApplyingOwn = false;
  const { entries: count, characters } = copy.sizes;
  const isLarge = count >= compactAfter.entries * factor || characters >= compactAfter.characters * factor;
  if (isLarge) compactSandbox(sandbox, undefined, count);
  // A full Redis stores a batch with an urgent entry.
  if (!entries.some(isUrgent)) shared.room.onStored();
}

function applyBatches(sandbox: FollowedSandbox, batches: Loaded["batches"]): void {
  const { options, shared } = sandbox;
  const whose = options.id === ownId ? "the server's own sandbox" : `the instance ${options.id}`;
  const broken = (position: string, error: unknown) => {
    const found = brokenEntry(shared.connection.shown, `${position} of ${whose}`, error);
    shared.report(found);
    return found;
  };
  for (const batch of batches) {
    [sandbox.position] = batch;
    applyBatch(sandbox.copy, batch, broken);
  }
}

async function reload(sandbox: FollowedSandbox): Promise<boolean> {
  const { options, shared, copy } = sandbox;
  const { connection } = shared;
  const found = await loadSandbox(shared, options.id);
  if (found === undefined || "ended" in found) return (await options.onGone()) ? reload(sandbox) : false;
  if (isLost(sandbox.position, found.position)) {
    connection.losses += 1;
    connection.warn("has lost data: the sandbox starts again from the remaining data");
  }
  restartCopy(copy, found.state);
  sandbox.position = found.position;
  applyBatches(sandbox, found.batches);
  return true;
}

async function makeRoom({ room, connection }: Shared, error: Error): Promise<boolean> {
  if (await room.onRejected(error)) return true;
  throw storeUnavailable(connection, reasonOf(error));
}

/** Lets entries wait again after `act`, unless that fails or the sandbox is gone. */
async function again(
  sandbox: FollowedSandbox,
  own: readonly Waiting[],
  act: Promise<boolean>,
): Promise<void> {
  const { connection } = sandbox.shared;
  const isThere = await act.catch((error) => {
    for (const one of takeWaiting(connection, own)) one.reject(error);
  });
  if (isThere === false) for (const one of takeWaiting(connection, own)) one.resolve(noSandbox);
  // Those that got an outcome no longer wait.
  enqueueAgain(connection, sandbox, own);
}

/** Whether a position that the stream does not have was lost, not compacted up to a snapshot. */
function isLost(position: string, snapshot: string): boolean {
  const [isFirst, isOther] = [position.startsWith("0-"), snapshot.startsWith("0-")];
  if (isFirst && isOther) return position !== snapshot;
  return position.localeCompare(snapshot, "en", { numeric: true }) > 0;
}
