import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { lock } from "../node/files/lock.js";
import { makeFolder, replaceFile } from "../node/files/write-file.js";

// No other user may read the file, or the folder that is made for it.
const folderMode = 0o700;
const fileMode = 0o600;

/** Locks a file for this process; resolves to `undefined` if another process has the lock. `file`: without links, as all names of a file share one lock. */
export async function lockFile(file: string): Promise<LockedFile | undefined> {
  const unlock = await lock(file);
  return unlock === undefined ? undefined : new LockedFile(file, unlock);
}

/**
 * A file that only this process writes. The lock keeps other processes of this machine away. A server in another container does not
 * see the lock: what it writes is noticed by a stamp of the file, and never replaced.
 */
export class LockedFile {
  readonly #file: string;
  readonly #unlock: () => void;
  /** The stamp of the file as it was last read or written here; `undefined` if there was none. */
  #stamp: string | undefined;

  constructor(file: string, unlock: () => void) {
    this.#file = file;
    this.#unlock = unlock;
  }

  /** The text of the file; `undefined` if there is none yet. Throws an error of the file system. */
  read(): string | undefined {
    this.#stamp = this.#currentStamp();
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    // Reading a pipe would wait for a writer.
    if (!stats.isFile()) throw new Error("it is not a regular file");
    return readFileSync(this.#file, "utf8");
  }

  /** Makes the folder of the file. */
  makeFolder(): void {
    makeFolder(dirname(this.#file), folderMode);
  }

  /** Replaces the file as a whole, or writes a new one. Throws if that fails, and if another program has written the file. */
  replace(parts: Iterable<string>): void {
    replaceFile(this.#file, parts, fileMode, () => {
      const stamp = this.#currentStamp();
      // A file that is gone is written again.
      if (stamp === undefined || stamp === this.#stamp) return;
      throw new Error("another program has written it, such as a server in another container");
    });
    this.#stamp = this.#currentStamp();
  }

  unlock(): void {
    this.#unlock();
  }

  /** A text that differs if another program has written the file; `undefined` if there is none. */
  #currentStamp(): string | undefined {
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  }
}
