import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { Line } from "../sandbox/conduct-heard.js";
import type { AnyServer } from "./http-server.js";
import { nodePlatform } from "./platform.js";

/** How many milliseconds a client takes at most to send on its connections what it sends at once. */
const shortest = 1;
/** How many milliseconds to wait for a turn in which nobody connects, when there is no end of them. */
const longest = 1000;

/** The connections of a server, as far as they tell what clients have heard. */
export interface ConnectionLines {
  /** The line of a connection on which a request has just been read; what waits on it waits no longer. */
  readonly of: (socket: Socket) => Line | undefined;
  /**
   * Calls back when all that clients have sent and opened by now has been read; within some milliseconds, and at once
   * when more comes on this connection, or its end.
   */
  readonly whenRead: (socket: Socket, callback: () => void) => void;
}

interface Waiting {
  readonly release: () => void;
  readonly since: number;
  isSeen: boolean;
}

/**
 * Watches the connections of a server.
 *
 * What clients have sent waits at the kernel and is read within a turn of the event loop. What they have opened waits
 * there too, and the kernel hands over one connection a turn: so all of it has been read after a turn in which nobody
 * connected. An answer that waits for that comes after every request that was under way at the same time.
 */
export function watchConnections(server: AnyServer): ConnectionLines {
  const lines = new WeakMap<Socket, Line>();
  const underHandshake = new Map<string, Line>();
  let opened = 0;
  server.on("connection", (socket: Socket) => {
    opened += 1;
    const line = { openedAt: nodePlatform.stopwatch(), isUsed: false, grace: 0 };
    lines.set(socket, line);
    if (!("setSecureContext" in server)) return;
    const peer = peerOf(socket);
    underHandshake.set(peer, line);
    socket.once("close", () => {
      if (underHandshake.get(peer) === line) underHandshake.delete(peer);
    });
  });
  // Under TLS requests come on another object for the same connection, which was opened before the handshake.
  server.on("secureConnection", (socket: Socket) => {
    const line = underHandshake.get(peerOf(socket));
    if (line !== undefined) lines.set(socket, line);
    underHandshake.delete(peerOf(socket));
  });

  const waiting = new Map<Socket, Waiting>();
  let openedBefore = 0;
  const look = () => {
    const now = nodePlatform.stopwatch();
    const isQuiet = opened === openedBefore;
    openedBefore = opened;
    for (const one of waiting.values()) {
      const isRead = one.isSeen && isQuiet && now >= one.since + shortest;
      one.isSeen = true;
      if (isRead || now >= one.since + longest) one.release();
    }
    // Runs after everything that waits at the kernel by now.
    if (waiting.size > 0) setImmediate(look);
  };
  return {
    of(socket) {
      if (waiting.size > 0) waiting.get(socket)?.release();
      return lines.get(socket);
    },
    whenRead(socket, callback) {
      // Two requests with bodies can have come before either was answered.
      waiting.get(socket)?.release();
      const release = () => {
        waiting.delete(socket);
        socket.off("end", release);
        callback();
      };
      if (waiting.size === 0) setImmediate(look);
      waiting.set(socket, { release, since: nodePlatform.stopwatch(), isSeen: false });
      // Before Node hears of it, which would close a connection on which nothing is going out.
      socket.prependListener("end", release);
    },
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
