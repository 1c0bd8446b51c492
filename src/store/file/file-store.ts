import { cpSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { lock } from "../../node/files/lock.js";
import { fileFailure, makeFolder, makeOwnFolder, targetOf } from "../../node/files/write-file.js";
import { version } from "../../node/package-files.js";
import { loadReader, nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import type { GivenOptions, SandboxState } from "../../sandbox/sandbox.js";
import { restoreSandbox, type SavedSandbox } from "../../sandbox/start.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { InstanceLimits } from "../instances.js";
import { KeptSandboxes } from "../kept-sandboxes.js";
import { createMemoryStore, type MemoryStore } from "../memory-store.js";
import { sandboxExists } from "../origin.js";
import { brokenState, continueState, newIdGroup, parseState } from "../state-format.js";
import type { Store } from "../store.js";
import {
  folderOf,
  idsIn,
  isFullDisk,
  openFolder,
  orUnreadable,
  readState,
  removeDrafts,
  type StatePlace,
  takenOver,
  unwritableState,
} from "./folder.js";

export interface FileStoreOptions extends InstanceLimits {
  readonly own: () => NamedScenario;
  readonly start: () => SandboxState;
  /** The options of scenarios that start later; the saved state has its own. */
  readonly given: GivenOptions;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  readonly onProblem: (error: unknown) => void;
}

export interface FileStore extends Store {
  readonly instances: MemoryStore["instances"];
  /** When the state was saved (epoch milliseconds, wall clock); `undefined` for a new state. */
  readonly savedAt: number | undefined;
  /** Sentences about another version or a missing file; empty if there is nothing to note. */
  readonly note: string;
}

/**
 * Opens the store of a server whose sandboxes are each in a file, and continues all of them.
 *
 * A change is written before it is acknowledged; requests are written twice a second. Throws `state_unreadable` for the server's own
 * sandbox, `state_mismatch` for another scenario's state, or `state_in_use` if another server uses the file. An error leaves the
 * files unchanged. A use of an instance whose file is broken throws `state_unreadable`.
 */
export async function openFileStore(place: StatePlace, options: FileStoreOptions): Promise<FileStore> {
  // All names of a state's file share one lock.
  const file = orUnreadable(place.given, () => targetOf(place.file));
  const unlock = await lock(file);
  if (unlock === undefined) {
    throw new SandboxError(
      "state_in_use",
      `The state ${JSON.stringify(place.given)} is in use by a running server. Stop that server, or name another file with --state.`,
    );
  }
  try {
    return await continued({ ...place, file }, options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

/** Continues what the files have, and keeps it there. */
async function continued(
  place: StatePlace,
  options: FileStoreOptions,
  unlock: () => void,
): Promise<FileStore> {
  const state = findState(place, options);
  const { own, ids, inside } = state;
  removeDrafts(place);
  if (own?.scenario.openapi !== undefined) await loadReader();
  const sandbox = own === undefined ? options.start() : restoredOwn(place.given, own, options.given);
  sandbox.renewIds = newIdGroup;
  // No start gives out the request ids of another one, even if the disk is read-only.
  if (sandbox.idGroup !== undefined || ids.length + inside.length > 0)
    sandbox.idSeries.last = sandbox.idGroup ?? newIdGroup();
  const memory = createMemoryStore(sandbox, options);
  const folder = openFolder(place);
  const sandboxes = new KeptSandboxes(folder, memory, options);
  sandboxes.expect(ids, own?.at ?? 0);
  await sandboxes.readAll();
  for (const instance of inside) await sandboxes.restore(instance);
  return {
    ...memory,
    savedAt: own?.at,
    note: state.note,
    enter: (id) => sandboxes.enter(id),
    request: (request, at) => sandboxes.request(request, at),
    countUnread: (at, id) => sandboxes.countUnread(at, id),
    run: (kind, act, from) => sandboxes.run(kind, act, from),
    status() {
      const { failure, ...status } = sandboxes.status();
      const isTaken = folder.isTaken();
      const why = isTaken ? takenOver : (failure as Error | undefined)?.cause;
      const problem = why === undefined ? undefined : `The state cannot be saved: ${fileFailure(why)}.`;
      return { in: "file", reachable: true, losses: 0, ...status, isTaken, problem, isFull: isFullDisk(why) };
    },
    async begin() {
      try {
        makeFolders(place, state);
        await sandboxes.begin();
      } catch (error) {
        // If there is a state, it is whole, and is written once the disk allows it.
        if (!state.isThere) throw error;
        options.onProblem(error);
      }
    },
    close: () => sandboxes.end().finally(unlock),
  };
}

function makeFolders({ file, given }: StatePlace, { isThere, ids }: FoundState): void {
  try {
    if (!isThere) makeFolder(dirname(file), 0o700);
    if (ids.length > 0) makeOwnFolder(folderOf(file));
  } catch (error) {
    throw unwritableState(given, error);
  }
}

function restoredOwn(given: string, own: SavedSandbox, options: GivenOptions): SandboxState {
  try {
    return restoreSandbox(own, nodePlatform, { given: options, idGroup: newIdGroup() });
  } catch {
    throw brokenState(given);
  }
}

type FoundState = ReturnType<typeof findState>;

/**
 * Reads what a server continues: its own sandbox, if there is one, and the ids of the instances that have a file. Copies a state of
 * another version first. Throws `state_unreadable` and `state_mismatch`.
 */
function findState(place: StatePlace, { own, imported }: FileStoreOptions) {
  const text = readState(place);
  const ids = idsIn(place);
  if ((text !== undefined || ids.length > 0) && imported !== undefined) {
    throw sandboxExists(`The state ${JSON.stringify(place.given)}`, "name another file with --state");
  }
  const from = imported ?? (text === undefined ? undefined : { text, given: place.given });
  const state = from && continueState(parseState(from.text, from.given), own(), from.given);
  // A file has instances only if somebody put an export there.
  const inside = state?.instances.filter(({ id }) => !ids.includes(id)) ?? [];
  const all = { isThere: text !== undefined, own: state?.own, inside, ids };
  if (text === undefined) return { ...all, note: ids.length === 0 ? "" : missing(place.given) };
  const by = String(state?.version);
  if (by === version) return { ...all, note: "" };
  const copy = copyState(place, text, by);
  return {
    ...all,
    note: `Version ${version} continues a state of version ${by}. A copy of it is in "${copy}".`,
  };
}

function missing(given: string): string {
  return `The state ${JSON.stringify(given)} is missing, so the server's own sandbox starts again. The instances in ${JSON.stringify(folderOf(given))} continue. Remove this folder to start without them.`;
}

/** Copies the state that another version has written, with its instances, and returns the copy's name: a state as well. */
function copyState({ file, given }: StatePlace, text: string, by: string): string {
  const copy = `.backup-${by}`;
  try {
    if (statSync(folderOf(file), { throwIfNoEntry: false }) !== undefined)
      cpSync(folderOf(file), folderOf(file + copy), { recursive: true, preserveTimestamps: true });
    writeFileSync(file + copy, text, { mode: 0o600 });
  } catch (error) {
    throw unwritableState(given + copy, error);
  }
  return given + copy;
}
