import { promises, statSync } from "node:fs";
import { fileFailure, writeFileAtomically } from "../../node/files/write-file.js";
import { nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import { maxKept } from "../../sandbox/journal/history.js";
import type { Line } from "../../sandbox/line.js";
import type { RecordChange } from "../../sandbox/record.js";
import { type SavedState, signedLine, stateLine } from "../state-format.js";

/** A file of a saved state: its absolute path, and the given path for messages. */
export interface StatePlace {
  readonly file: string;
  readonly given: string;
}

/** The bytes of lines before the file is written again, or four times those of its first line. */
const maxLines = 256_000;
const { O_WRONLY, O_APPEND } = promises.constants;
const now = () => nodePlatform.stopwatch();

interface KeptOptions {
  /** Describes everything; `undefined` if the sandbox is gone, so that its file is removed. */
  readonly describe: () => Partial<SavedState> | undefined;
  /** Describes what requests have changed. */
  readonly describeLine: (happened: Line["happened"]) => object;
  /** Prepares the folder. Throws if this server may not write. */
  readonly check?: () => void;
  /** Called after the file was removed. */
  readonly onRemoved?: () => void;
}

/** What is not in a file: everything after a change, or what requests have changed. */
interface Unsaved {
  isChanged: boolean;
  requests: Exchange[];
  changes: RecordChange[];
  /** When the oldest of it happened (on the stopwatch); `undefined` if there is nothing. */
  since: number | undefined;
}

const nothing = (): Unsaved => ({ isChanged: false, requests: [], changes: [], since: undefined });

/**
 * A sandbox in its file, which only this process writes and only its owner can read. A change writes all of it again, and requests
 * are appended, which costs no more with many keys.
 */
export interface KeptSandbox {
  readonly place: StatePlace;
  readonly options: KeptOptions;
  unsaved: Unsaved;
  /** When the oldest that the current write writes happened; `undefined` without a write. */
  writtenSince: number | undefined;
  writing: Promise<void> | undefined;
  /** Why the last write failed; `undefined` if it did not. */
  failure: unknown;
  /** What the file system showed after the last write. */
  shown: ReturnType<typeof shownOf>;
  /** The bytes of the first line, if this process has written it, and the checksum of the last one. */
  first: number | undefined;
  sum: string;
}

export function openKept(place: StatePlace, options: KeptOptions): KeptSandbox {
  return {
    place,
    options,
    unsaved: nothing(),
    writtenSince: undefined,
    writing: undefined,
    failure: undefined,
    shown: shownOf(place.file),
    first: undefined,
    sum: "",
  };
}

export function markChanged({ unsaved }: KeptSandbox): void {
  unsaved.isChanged = true;
  unsaved.since ??= now();
}

/** Marks that requests have changed something that no request has. */
export function markBehind({ unsaved }: KeptSandbox): void {
  unsaved.since ??= now();
}

export function addRequest(kept: KeptSandbox, exchange: Exchange): void {
  kept.unsaved.requests.push(exchange);
  if (kept.unsaved.requests.length > maxKept) kept.unsaved.requests.shift();
  markBehind(kept);
}

export function addRecordChange(kept: KeptSandbox, change: RecordChange): void {
  kept.unsaved.changes.push(change);
  markBehind(kept);
}

export function isSaved({ unsaved, writing }: KeptSandbox): boolean {
  return unsaved.since === undefined && writing === undefined;
}

/** The milliseconds since the oldest request or change that is not in the file. */
export function unsavedFor({ writtenSince, unsaved }: KeptSandbox): number {
  const oldest = writtenSince ?? unsaved.since;
  return oldest === undefined ? 0 : now() - oldest;
}

/** The bytes of the lines after the first one. */
export function bytesOfLines({ shown, first = 0 }: KeptSandbox): number {
  return (shown?.size ?? 0) - first;
}

/** Whether another program has written the file since the last write. */
export function isForeign(kept: KeptSandbox): boolean {
  return kept.writing === undefined && isTaken(kept);
}

/** Resolves once everything before this call is in the file. Rejects with `state_unwritable`, and leaves the file unchanged then. */
export async function saveKept(kept: KeptSandbox): Promise<void> {
  // All who wait for the current write share the next one.
  await kept.writing?.catch(() => {});
  kept.writing ??= writeUnsaved(kept).finally(() => {
    kept.writing = undefined;
  });
  return kept.writing;
}

async function writeUnsaved(kept: KeptSandbox): Promise<void> {
  const { unsaved } = kept;
  if (unsaved.since === undefined) return;
  kept.writtenSince = unsaved.since;
  kept.unsaved = nothing();
  try {
    await write(kept, unsaved);
    kept.failure = undefined;
  } catch (error) {
    const later = kept.unsaved;
    kept.unsaved = {
      isChanged: unsaved.isChanged || later.isChanged,
      requests: [...unsaved.requests, ...later.requests].slice(-maxKept),
      changes: [...unsaved.changes, ...later.changes],
      since: unsaved.since,
    };
    kept.failure = error;
    throw unwritableState(kept.place.given, error);
  } finally {
    kept.writtenSince = undefined;
  }
}

async function write(kept: KeptSandbox, { isChanged, requests, changes }: Unsaved): Promise<void> {
  const { options, place, first } = kept;
  requireOwn(kept);
  // The last line of an earlier process may be cut.
  const canAppend = first !== undefined && bytesOfLines(kept) <= Math.max(4 * first, maxLines);
  if (!isChanged && canAppend && shownOf(place.file) !== undefined) {
    const events = changes.map((change) => ({ event: { type: "record.changed", change } as const }));
    return append(kept, options.describeLine([...requests.map((request) => ({ request })), ...events]));
  }
  const state = options.describe();
  if (state === undefined) {
    await promises.rm(place.file, { force: true });
    [kept.shown, kept.first] = [undefined, undefined];
    return options.onRemoved?.();
  }
  const line = stateLine(state);
  await writeFileAtomically(place.file, line.text, 0o600, () => requireOwn(kept));
  kept.shown = shownOf(place.file);
  [kept.first, kept.sum] = [kept.shown?.size, line.sum];
}

async function append(kept: KeptSandbox, content: object): Promise<void> {
  const { file } = kept.place;
  const line = signedLine(content, kept.sum);
  const handle = await promises.open(file, O_WRONLY | O_APPEND);
  try {
    await handle.appendFile(line.text);
    kept.sum = line.sum;
  } catch (error) {
    // A full disk may have taken a part.
    kept.first = undefined;
    await handle.truncate(kept.shown?.size);
    throw error;
  } finally {
    await handle.close();
    kept.shown = shownOf(file);
  }
}

function requireOwn(kept: KeptSandbox): void {
  kept.options.check?.();
  if (isTaken(kept)) throw takenOver;
}

function isTaken({ place, shown }: KeptSandbox): boolean {
  const found = shownOf(place.file);
  return found !== undefined && found.text !== shown?.text;
}

function shownOf(file: string) {
  const { ino, size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return ino === undefined || size === undefined ? undefined : { size, text: `${ino} ${size} ${mtimeMs}` };
}

/** The lock does not protect from other containers that mount the volume. */
export const takenOver = new Error("another program has written it, such as a server in another container");

/** Returns `state_unwritable` for an error of the file system. */
export function unwritableState(given: string, error: unknown): SandboxError {
  const whatToDo = isFullDisk(error)
    ? `Free disk space, for example by removing copies ${JSON.stringify(`${given}.backup-…`)} that you no longer need.`
    : "Check its folder and permissions.";
  const message = `Failed to write the state to ${JSON.stringify(given)}: ${fileFailure(error)}. The file keeps its last saved state. ${whatToDo}`;
  return Object.assign(new SandboxError("state_unwritable", message), { cause: error });
}

export function isFullDisk(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}
