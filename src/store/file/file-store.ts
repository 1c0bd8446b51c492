import {
  chmodSync,
  cpSync,
  existsSync,
  promises,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  draftSuffix,
  fileFailure,
  makeFolder,
  targetOf,
  writeFileAtomically,
} from "../../node/files/write-file.js";
import { version } from "../../node/package-files.js";
import { loadReader, nodePlatform } from "../../node/platform.js";
import { SandboxError } from "../../rules/errors.js";
import type { GivenOptions, SandboxState } from "../../sandbox/sandbox.js";
import { restoreSandbox, type SavedSandbox } from "../../sandbox/start.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import type { InstanceLimits } from "../instances.js";
import { KeptSandboxes } from "../kept-sandboxes.js";
import { createMemoryStore, type MemoryStore } from "../memory-store.js";
import {
  brokenState,
  continueState,
  newIdGroup,
  ownId,
  type Place,
  parseState,
  sandboxExists,
  unreadableState,
} from "../state-format.js";
import type { Store } from "../store.js";

interface FileStoreOptions extends InstanceLimits {
  readonly own: () => NamedScenario;
  readonly start: () => SandboxState;
  /** The options of scenarios that start later; the saved state has its own. */
  readonly given: GivenOptions;
  readonly imported?: { readonly text: string; readonly given: string } | undefined;
  readonly onProblem: (error: unknown) => void;
}

interface FileStore extends Store {
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

/** A file of a saved state: its absolute path, and the given path for messages. */
interface StatePlace {
  readonly file: string;
  readonly given: string;
}

const folderOf = (file: string) => `${file}.instances`;

/** The lock does not protect from other containers that mount the volume. */
const takenOver = new Error("another program has written it, such as a server in another container");

interface Folder extends Place {
  /** Whether another program has written the server's own file since this one has. */
  readonly isTaken: () => boolean;
}

/** A file for the server's own text, and one for each instance in the folder next to it; only their owner can read them. */
function openFolder(place: StatePlace): Folder {
  const placeOf = (id: string): StatePlace =>
    id === ownId
      ? place
      : { file: join(folderOf(place.file), `${id}.json`), given: `${folderOf(place.given)}/${id}.json` };
  const fileOf = (id: string) => placeOf(id).file;
  // What the file system showed after the last write of a file, or when it was first of interest.
  const lastShown = new Map([[ownId, shownOf(place.file)]]);
  const writing = new Set<string>();
  const isTaken = (id: string) => {
    const text = shownOf(fileOf(id));
    return text !== undefined && lastShown.has(id) && text !== lastShown.get(id);
  };
  const requireOwn = (id: string) => {
    if ((!writing.has(ownId) && isTaken(ownId)) || isTaken(id)) throw takenOver;
  };
  return {
    nameOf: (id) => placeOf(id).given,
    async read(id) {
      lastShown.set(id, shownOf(fileOf(id)));
      return readState(placeOf(id), longest.instance);
    },
    async write(id, text) {
      requireOwn(id);
      if (id !== ownId) makeOwnFolder(folderOf(place.file));
      writing.add(id);
      try {
        await writeFileAtomically(fileOf(id), text, 0o600, () => requireOwn(id));
        lastShown.set(id, shownOf(fileOf(id)));
      } finally {
        writing.delete(id);
      }
    },
    async remove(id) {
      requireOwn(id);
      await promises.rm(fileOf(id), { force: true });
      lastShown.delete(id);
    },
    failureOf: (id, error) => unwritableState(placeOf(id).given, error),
    isTaken: () => !writing.has(ownId) && isTaken(ownId),
  };
}

function shownOf(file: string): string | undefined {
  const { ino, size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return ino === undefined ? undefined : `${ino} ${size} ${mtimeMs}`;
}

/** The longest files that are read: an instance needs much less, and the server's own may be a whole export. */
const longest = { instance: 64 * 1024 * 1024, own: 512 * 1024 * 1024 };

function readState({ file, given }: StatePlace, max = longest.own): string | undefined {
  return orUnreadable(given, () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    // Reading a pipe would wait for a writer.
    if (stats?.isFile() === false) throw new Error("it is not a regular file");
    if (stats !== undefined && stats.size > max)
      throw new Error(
        `it has ${Math.ceil(stats.size / 2 ** 20)} MB, and at most ${max / 2 ** 20} MB are read`,
      );
    return stats && readFileSync(file, "utf8");
  });
}

/** Returns the ids of the instances that have a file. */
function idsIn({ file, given }: StatePlace): string[] {
  const folder = folderOf(file);
  return orUnreadable(folderOf(given), () => {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
    return readdirSync(folder).flatMap((name) => /^(\w+)\.json$/.exec(name)?.[1] ?? []);
  });
}

/** Removes what a killed server has not finished to write. A disk that does not allow it changes nothing. */
function removeDrafts({ file }: StatePlace): void {
  const folder = folderOf(file);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const inFolder = names.filter((name) => name.endsWith(draftSuffix)).map((name) => join(folder, name));
  for (const draft of [file + draftSuffix, ...inFolder]) {
    try {
      rmSync(draft, { force: true });
    } catch {
      // The next write of this file tries it again.
    }
  }
}

/** Throws `state_unreadable` for an error of the file system. */
function orUnreadable<Result>(given: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw unreadableState(given, fileFailure(error));
  }
}

/** Returns `state_unwritable` for an error of the file system. */
function unwritableState(given: string, error: unknown): SandboxError {
  const whatToDo = isFullDisk(error)
    ? `Free disk space, for example by removing copies ${JSON.stringify(`${given}.backup-…`)} that you no longer need.`
    : "Check its folder and permissions.";
  const message = `Failed to write the state to ${JSON.stringify(given)}: ${fileFailure(error)}. The file keeps its last saved state. ${whatToDo}`;
  return Object.assign(new SandboxError("state_unwritable", message), { cause: error });
}

function isFullDisk(error: unknown): boolean {
  return /^(?:ENOSPC|EDQUOT)$/.test((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

const net = process.getBuiltinModule("node:net");

/** A local socket that this process listens on. The system frees it when the process ends, even after a crash. */
export async function lock(file: string): Promise<(() => void) | undefined> {
  const address = addressOf(nodePlatform.sha256(file).slice(0, 32));
  let server = await listenAt(address);
  if (server === undefined && address.endsWith(".sock") && !(await hasResponse(address))) {
    rmSync(address, { force: true });
    server = await listenAt(address);
  }
  return server && (() => void server.close());
}

// On Linux and Windows, the address is not a file that could remain.
function addressOf(name: string): string {
  if (process.platform === "linux") return `\0svc-sandbox-${name}`;
  if (process.platform === "win32") return `\\\\.\\pipe\\svc-sandbox-${name}`;
  return join(tmpdir(), `svc-sandbox-${name}.sock`);
}

function listenAt(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => void socket.destroy()).unref();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    server.listen({ path, exclusive: true }, () => resolve(server));
  });
}

/** Whether a process listens on the socket. After `kill -9`, the file remains without a listener. */
function hasResponse(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(path);
    const end = (responded: boolean) => {
      socket.destroy();
      resolve(responded);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}

function makeOwnFolder(path: string): void {
  makeFolder(path, 0o700);
  // Windows has no such modes.
  if (process.platform !== "win32" && statSync(path).mode & 0o077) chmodSync(path, 0o700);
}
