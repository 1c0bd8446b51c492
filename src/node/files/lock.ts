import { rmSync } from "node:fs";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nodePlatform } from "../platform.js";

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
