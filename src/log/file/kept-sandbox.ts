import { nodePlatform } from "../../node/platform.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import { mostKept } from "../../sandbox/journal/history.js";
import type { RecordChange } from "../../sandbox/record.js";
import type { SandboxState } from "../../sandbox/sandbox.js";
import { describeRequests } from "../../sandbox/start.js";
import { type SavedState, signedLine, stateLine } from "../state-format.js";
import { openSandboxFile, type SandboxFile, type StatePlace, unwritableState } from "./sandbox-file.js";

/** What the file of a sandbox lacks: nothing, requests, everything, or its removal. */
type Unsaved = "saved" | "behind" | "changed" | "gone";

/** The state after something happened that leaves this unsaved. A failed write leaves unsaved what it wrote. */
const transitions: Readonly<Record<Exclude<Unsaved, "saved">, Readonly<Record<Unsaved, Unsaved>>>> = {
  behind: { saved: "behind", behind: "behind", changed: "changed", gone: "gone" },
  changed: { saved: "changed", behind: "changed", changed: "changed", gone: "gone" },
  gone: { saved: "gone", behind: "gone", changed: "gone", gone: "gone" },
};

const now = () => nodePlatform.stopwatch();

interface KeptOptions {
  readonly describe: () => Partial<SavedState>;
  /** Returns its last use, on the wall clock (epoch milliseconds). Default: not kept. */
  readonly usedAt?: () => number;
  /** Throws if this server may not write. */
  readonly check?: () => void;
}

/** What is not in a file, and when the oldest of it happened (on the stopwatch). */
interface Pending {
  state: Unsaved;
  requests: Exchange[];
  changes: RecordChange[];
  since: number | undefined;
}

const nothing = (): Pending => ({ state: "saved", requests: [], changes: [], since: undefined });

/** A sandbox in its file: a change writes all of it again, and requests are appended, which costs no more with many keys. */
export interface KeptSandbox {
  readonly place: StatePlace;
  readonly runtime: SandboxState;
  readonly options: KeptOptions;
  readonly file: SandboxFile;
  unsaved: Pending;
  /** When the oldest that the current write writes happened; `undefined` without a write. */
  writtenSince: number | undefined;
  writing: Promise<void> | undefined;
  following: Promise<void> | undefined;
  /** Why the last write failed; `undefined` if it did not. */
  failure: unknown;
}

export function openKept(place: StatePlace, runtime: SandboxState, options: KeptOptions): KeptSandbox {
  return {
    ...{ place, runtime, options, file: openSandboxFile(place, options.check), unsaved: nothing() },
    ...{ writtenSince: undefined, writing: undefined, following: undefined, failure: undefined },
  };
}

export function markUnsaved({ unsaved }: KeptSandbox, what: Exclude<Unsaved, "saved">): void {
  unsaved.state = transitions[what][unsaved.state];
  unsaved.since ??= now();
}

export function addRequest(kept: KeptSandbox, exchange: Exchange): void {
  kept.unsaved.requests.push(exchange);
  if (kept.unsaved.requests.length > mostKept) kept.unsaved.requests.shift();
  markUnsaved(kept, "behind");
}

export function addRecordChange(kept: KeptSandbox, change: RecordChange): void {
  kept.unsaved.changes.push(change);
  markUnsaved(kept, "behind");
}

/** Resolves once everything before this call is in the file. Rejects with `state_unwritable`, and leaves the file unchanged then. */
export function saveKept(kept: KeptSandbox): Promise<void> {
  if (kept.writing === undefined) return start(kept);
  // All who wait for the current write share the next one.
  kept.following ??= kept.writing
    .catch(() => {})
    .then(() => {
      kept.following = undefined;
      return start(kept);
    });
  return kept.following;
}

export function isSaved({ unsaved, writing }: KeptSandbox): boolean {
  return unsaved.state === "saved" && writing === undefined;
}

/** The milliseconds since the oldest request or change that is not in the file. */
export function unsavedFor({ writtenSince, unsaved }: KeptSandbox): number {
  const oldest = writtenSince ?? unsaved.since;
  return oldest === undefined ? 0 : now() - oldest;
}

function start(kept: KeptSandbox): Promise<void> {
  kept.writing = writeUnsaved(kept).finally(() => {
    kept.writing = undefined;
  });
  return kept.writing;
}

async function writeUnsaved(kept: KeptSandbox): Promise<void> {
  const { unsaved } = kept;
  const { state, requests, changes, since } = unsaved;
  if (state === "saved") return;
  kept.writtenSince = since;
  kept.unsaved = nothing();
  try {
    await write(kept, unsaved);
    kept.failure = undefined;
  } catch (error) {
    markUnsaved(kept, state);
    const later = kept.unsaved;
    later.requests = [...requests, ...later.requests].slice(-mostKept);
    later.changes = [...changes, ...later.changes];
    later.since = since;
    kept.failure = error;
    throw unwritableState(kept.place.given, error);
  } finally {
    kept.writtenSince = undefined;
  }
}

async function write({ file, runtime, options }: KeptSandbox, { state, requests, changes }: Pending) {
  if (state === "gone") return file.remove();
  if (state === "changed" || !file.canAppend()) return file.replace(stateLine(options.describe()));
  const line = { usedAt: options.usedAt?.(), since: describeRequests(runtime, requests, changes) };
  return file.append((before) => signedLine(line, before));
}
