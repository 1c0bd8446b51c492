import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import type { Line } from "../sandbox/conduct-heard.js";
import { nodeEdge } from "./edge.js";
import type { AnyServer } from "./http-server.js";

/** How many milliseconds a client takes at most to send on its connections what it sends at once. */
const shortest = 1;
/** How many milliseconds to wait for a turn in which nobody connects, when there is no end of them. */
const longest = 20;

/** The connections of a server, as far as they tell what clients have heard. */
export interface ConnectionLines {
  /** The line that a connection is. */
  readonly of: (socket: Socket) => Line | undefined;
  /** Calls back when all that clients have sent and opened by now has been read; within some milliseconds. */
  readonly whenRead: (callback: () => void) => void;
}

interface Waiting {
  readonly callback: () => void;
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
    const line = { openedAt: nodeEdge.stopwatch(), isUsed: false, grace: 0 };
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

  let waiting: Waiting[] = [];
  let openedBefore = 0;
  const look = () => {
    const now = nodeEdge.stopwatch();
    const isQuiet = opened === openedBefore;
    const seen = waiting;
    waiting = [];
    openedBefore = opened;
    for (const one of seen) {
      const isRead = one.isSeen && isQuiet && now >= one.since + shortest;
      one.isSeen = true;
      if (isRead || now >= one.since + longest) one.callback();
      else waiting.push(one);
    }
    // Runs after everything that waits at the kernel by now.
    if (waiting.length > 0) setImmediate(look);
  };
  return {
    of: (socket) => lines.get(socket),
    whenRead(callback) {
      if (waiting.length === 0) setImmediate(look);
      waiting.push({ callback, since: nodeEdge.stopwatch(), isSeen: false });
    },
  };
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
