import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { nodePlatform } from "../platform.js";
import { replaceFile } from "./write-file.js";

const net = process.getBuiltinModule("node:net");

/**
 * Takes the lock of a file name for this process; the file itself need not exist. Resolves to how to free the lock, or to
 * `undefined` if another process has it. The lock is a local socket: the system frees it when the process ends, even after a
 * crash. Containers with their own network do not see it.
 */
export async function lock(file: string): Promise<(() => void) | undefined> {
  const address = addressOf(nodePlatform.sha256(file).slice(0, 32));
  let server = await listenAt(address);

  // A killed process may have left a socket that is a file.
  const mayBeLeft = server === undefined && address.endsWith(".sock");
  if (mayBeLeft && !(await hasListener(address))) {
    rmSync(address, { force: true });
    server = await listenAt(address);
  }

  if (server === undefined) return undefined;
  const listening = server;
  return () => void listening.close();
}

/** The address of a local socket with a name. On Linux and Windows, it is not a file that could remain. */
function addressOf(name: string): string {
  if (process.platform === "linux") return `\0svc-sandbox-${name}`;
  if (process.platform === "win32") return `\\\\.\\pipe\\svc-sandbox-${name}`;
  return join(tmpdir(), `svc-sandbox-${name}.sock`);
}

/** Listens at an address; resolves to `undefined` if it is in use. */
function listenAt(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => void socket.destroy()).unref();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(undefined);
      else reject(error);
    });
    server.listen({ path: address, exclusive: true }, () => resolve(server));
  });
}

/** Whether a process listens on the socket. After `kill -9`, the file remains without a listener. */
function hasListener(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(address);
    const end = (responded: boolean) => {
      socket.destroy();
      resolve(responded);
    };
    socket.once("connect", () => end(true)).once("error", () => end(false));
  });
}

// No other user may read the file, or the folder that is made for it.
const folderMode = 0o700;
const fileMode = 0o600;

/**
 * A file that only this process writes. The lock keeps other processes of this machine away. A server in another container does not
 * see the lock: what it writes is noticed by a stamp of the file, and never replaced.
 */
export class LockedFile {
  readonly #file: string;
  readonly unlock: () => void;
  /** The stamp of the file as it was last read or written here; `undefined` if there was none. */
  #stamp: string | undefined;

  /** Locks a file; resolves to `undefined` if another process has the lock. `file`: without links, as all names of a file share one lock. */
  static async lock(file: string): Promise<LockedFile | undefined> {
    const unlock = await lock(file);
    return unlock === undefined ? undefined : new LockedFile(file, unlock);
  }

  private constructor(file: string, unlock: () => void) {
    this.#file = file;
    this.unlock = unlock;
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
    mkdirSync(dirname(this.#file), { recursive: true, mode: folderMode });
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

  /** A text that differs if another program has written the file; `undefined` if there is none. */
  #currentStamp(): string | undefined {
    const stats = statSync(this.#file, { throwIfNoEntry: false });
    if (stats === undefined) return undefined;
    return `${stats.ino} ${stats.size} ${stats.mtimeMs}`;
  }
}
