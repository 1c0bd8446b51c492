import { promises } from "node:fs";
import { dirname } from "node:path";
import { lock } from "../../node/files/lock.js";
import { fileFailure, makeFolder, makeOwnFolder, targetOf } from "../../node/files/write-file.js";
import { clearInterval, loadReader, nodePlatform, setInterval } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import type { GivenOptions, SandboxState } from "../../sandbox/sandbox.js";
import { restoreSandbox, type SavedSandbox } from "../../sandbox/start.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { InstanceLimits, InstanceState, Instances } from "../instances.js";
import { createMemoryStore, type MemoryStore } from "../memory-store.js";
import { brokenState, type KnownScenarios, savedAt } from "../state-format.js";
import { distantId, type Store } from "../store.js";
import {
  findState,
  folderOf,
  instancePlace,
  orUnreadable,
  readInstance,
  removeDrafts,
} from "./found-state.js";
import {
  changeFile,
  fileOf,
  followAll,
  type KeptFiles,
  keepChanges,
  keepRecords,
  listFiles,
  openFiles,
  saveUnsaved,
} from "./kept-files.js";
import {
  bytesOfLines,
  isForeign,
  isFullDisk,
  isSaved,
  type KeptSandbox,
  markChanged,
  type StatePlace,
  saveKept,
  takenOver,
  unsavedFor,
  unwritableState,
} from "./kept-sandbox.js";

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

/** Milliseconds between two saves of requests. */
const pause = 500;

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
    return fileLog(await continued({ ...place, file }, options), options, unlock);
  } catch (error) {
    unlock();
    throw error;
  }
}

type Continued = Awaited<ReturnType<typeof continued>>;

/** Continues what the files have, one instance after the other: a start needs little more memory than it keeps. */
async function continued(place: StatePlace, options: FileStoreOptions) {
  const found = findState(place, options);
  removeDrafts(place);
  if (found.own?.scenario.openapi !== undefined) await loadReader();
  const sandbox =
    found.own === undefined ? options.start() : restoredOwn(place.given, found.own, options.given);
  // No start gives out the request ids of another one, even if the disk is read-only.
  if (sandbox.idGroup !== undefined || found.ids.length + found.inside.length > 0)
    sandbox.idSeries.last = sandbox.idGroup ?? newGroup();
  const memory = createMemoryStore(sandbox, options);
  const broken = new Map<string, SandboxError>();
  const stoppedAt = found.own === undefined ? 0 : savedAt(found.own);
  const restore = async (id: string, read: () => InstanceState) => {
    try {
      const state = read();
      if (state.sandbox.scenario.openapi !== undefined) await loadReader();
      // The stop does not count as idle time.
      memory.instances.restore(state, Math.max(stoppedAt, savedAt(state.sandbox)) - state.usedAt);
    } catch (error) {
      const { given } = instancePlace(place, id);
      broken.set(id, error instanceof SandboxError ? error : brokenState(given, true));
    }
  };
  const known: KnownScenarios = new Map();
  for (const id of found.ids) await restore(id, () => readInstance(place, id, known));
  for (const one of found.inside) await restore(one.id, () => one);
  return { place, memory, broken, found };
}

function fileLog(server: Continued, options: FileStoreOptions, unlock: () => void): FileStore {
  const { memory, broken, found } = server;
  const files = openFiles({ ...server, ...options });
  const { ownFile } = files;
  let saving: NodeJS.Timeout | undefined;
  return {
    ...memory,
    savedAt: found.own && savedAt(found.own),
    note: found.note,
    // Followers of an earlier process must notice that they have missed events.
    firstEvent: distantId,
    enter(id) {
      requireWhole(server, id);
      return memory.enter(id);
    },
    request: (request, at) => keepRecords(files, () => memory.request(request, at)),
    countUnread(at, id) {
      memory.countUnread(at, id);
      // Its request may already be in the file.
      changeFile(files, fileOf(files, at.instance));
    },
    run(kind, act, from) {
      if (kind === "read") return memory.run(kind, act, from);
      return keepChanges(files, (changed) => {
        if (kind === "list")
          return memory.run(
            kind,
            (at) => act({ ...at, instances: at.instances && keptInstances(server, files, changed) }),
            from,
          );
        const response = memory.run(kind, act, from);
        changeFile(files, fileOf(files, from.instance));
        return response;
      });
    },
    status: () => statusOf(server, files),
    async begin() {
      broken.forEach(options.onProblem);
      const first = followAll(files, found.ids);
      saving = setInterval(() => saveUnsaved(files), pause).unref();
      try {
        makeFolders(server);
        await Promise.allSettled(first);
        // The last one: without it, the others are written again.
        await saveKept(ownFile);
      } catch (error) {
        // If there is a state, it is whole, and is written once the disk allows it.
        if (!found.isThere) throw error;
        options.onProblem(error);
      }
    },
    async close() {
      try {
        if (saving === undefined) return;
        clearInterval(saving);
        saving = undefined;
        if (!isSaved(ownFile) || bytesOfLines(ownFile) > 0) markChanged(ownFile);
        await Promise.all(listFiles(files).map(saveKept));
      } finally {
        unlock();
      }
    },
  };
}

function makeFolders({ place, found }: Continued): void {
  try {
    if (!found.isThere) makeFolder(dirname(place.file), 0o700);
    if (found.ids.length > 0) makeOwnFolder(folderOf(place.file));
  } catch (error) {
    throw unwritableState(place.given, error);
  }
}

/** Throws if the file of the instance is broken. */
function requireWhole({ broken }: Continued, id = ""): void {
  const error = broken.get(id);
  if (error !== undefined) throw error;
}

/** The instances for a call: a broken one can be removed, and new hashes are stored. */
function keptInstances(server: Continued, files: KeptFiles, changed: Set<KeptSandbox>): Instances {
  const { place, memory, broken } = server;
  const { instances } = memory;
  return {
    ...instances,
    async remove(id) {
      if (!broken.has(id)) return instances.remove(id);
      const { file, given } = instancePlace(place, id);
      await promises.rm(file, { force: true }).catch((error) => {
        throw unwritableState(given, error);
      });
      broken.delete(id);
    },
    create(source, given, tenancy, id) {
      requireWhole(server, id);
      return instances.create(source, given, tenancy, id);
    },
    changeHashes(...given) {
      requireWhole(server, given[0]);
      const instance = instances.changeHashes(...given);
      const file = fileOf(files, instance.id) as KeptSandbox;
      markChanged(file);
      changed.add(file);
      return instance;
    },
  };
}

function statusOf({ broken }: Continued, files: KeptFiles): ReturnType<Store["status"]> {
  const isTaken = isForeign(files.ownFile);
  const all = listFiles(files);
  const failure = isTaken ? takenOver : all.find((one) => one.failure !== undefined)?.failure;
  return {
    in: "file",
    reachable: true,
    losses: 0,
    isTaken,
    broken: [...broken].map(([id, { message }]) => ({ id, reason: message })),
    bytes: all.reduce((sum, one) => sum + (one.shown?.size ?? 0), 0),
    unsavedFor: Math.max(...all.map(unsavedFor)),
    problem: failure === undefined ? undefined : `The state cannot be saved: ${fileFailure(failure)}.`,
    isFull: isFullDisk(failure),
  };
}

function restoredOwn(given: string, own: SavedSandbox, options: GivenOptions): SandboxState {
  try {
    return restoreSandbox(own, nodePlatform, { given: options, idGroup: newGroup() });
  } catch {
    throw brokenState(given);
  }
}

/** Returns a group of request ids that no other start is likely to have, with room for a million instances after it. */
function newGroup(): number {
  return (1 + (nodePlatform.random() % 2 ** 31)) * 2 ** 20;
}
