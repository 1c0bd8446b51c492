import { existsSync, promises, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { draftSuffix, fileFailure, makeOwnFolder, writeFileAtomically } from "../../node/files/write-file.js";
import { SandboxError } from "../../rules/errors.js";
import { ownId, type Place } from "../place.js";
import { unreadableState } from "../state-format.js";

/** A file of a saved state: its absolute path, and the given path for messages. */
export interface StatePlace {
  readonly file: string;
  readonly given: string;
}

export const folderOf = (file: string) => `${file}.instances`;

/** The lock does not protect from other containers that mount the volume. */
export const takenOver = new Error("another program has written it, such as a server in another container");

export interface Folder extends Place {
  /** Whether another program has written the server's own file since this one has. */
  readonly isTaken: () => boolean;
}

/** A file for the server's own text, and one for each instance in the folder next to it; only their owner can read them. */
export function openFolder(place: StatePlace): Folder {
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

export function readState({ file, given }: StatePlace, max = longest.own): string | undefined {
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
export function idsIn({ file, given }: StatePlace): string[] {
  const folder = folderOf(file);
  return orUnreadable(folderOf(given), () => {
    if (statSync(folder, { throwIfNoEntry: false }) === undefined) return [];
    return readdirSync(folder).flatMap((name) => /^(\w+)\.json$/.exec(name)?.[1] ?? []);
  });
}

/** Removes what a killed server has not finished to write. A disk that does not allow it changes nothing. */
export function removeDrafts({ file }: StatePlace): void {
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
export function orUnreadable<Result>(given: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw unreadableState(given, fileFailure(error));
  }
}

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
