import type { Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { clearTimeout, nextTick, setTimeout } from "../node/platform.js";
import { endSocket, refuseSocket } from "./send-answer.js";

/** The member of a connection that holds the last of the answers that it owes; those before it are sent first. */
export const lastAnswer = Symbol("last answer");

const waitingAnswers = Symbol("waiting answers");

/** The member of a connection with several answers under way at a time: ends it once they are sent. */
export const endGently = Symbol("end gently");

/** A connection; members of it, because a map would take longer with every request. */
export interface Connection extends Duplex {
  [lastAnswer]?: ServerResponse;
  /** The number of answers that wait for their turn. */
  [waitingAnswers]?: number;
  [endGently]?: () => void;
}

/** A connection on which so many answers wait for their turn is not read any further. */
const mostWaiting = 100;

/** It is closed after so many milliseconds in which nothing happens: unread, it does not tell that its client has gone. */
const longestPause = 60_000;

/** Counts an answer that waits for those before it on its connection; reads no more requests while there are too many. */
export function queueAnswer(connection: Connection & Socket, response: ServerResponse): void {
  const count = (change: number) => {
    const waiting = (connection[waitingAnswers] ?? 0) + change;
    connection[waitingAnswers] = waiting;
    if (waiting >= mostWaiting) {
      // Node reads on with each request that ends; what has come in one piece is taken whole.
      nextTick(() => connection.pause());
      connection.setTimeout(longestPause);
    } else if (waiting - change >= mostWaiting) connection.setTimeout(0).resume();
  };
  count(1);
  response.once("finish", () => count(-1));
}

/** A server of HTTP or of HTTPS; the two have the same events and methods. */
export type AnyServer = Server | TlsServer;

/** Milliseconds that a connection of HTTPS has until it is encrypted, and in which any may do nothing once its client has ended it. */
const longestWait = 10_000;

/**
 * Follows the connections of a server that are open, of HTTPS both the bare and the encrypted ones.
 *
 * A bare connection ends with the encrypted one, or when it is not encrypted in time. Each ends when nothing happens on it
 * after its client has ended it: Node leaves some of those open for good.
 */
export function followConnections(
  server: AnyServer,
  { encrypted, wait = longestWait }: { readonly encrypted: boolean; readonly wait?: number },
): ReadonlySet<Socket> {
  const open = new Set<Socket>();
  const deadlines = new WeakMap<Socket, NodeJS.Timeout>();
  const follow = (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.once("end", () => {
      socket.setTimeout(wait, () => {
        socket.destroy();
        bareOf(socket)?.destroy();
      });
    });
  };
  server.on("connection", (bare: Socket) => {
    follow(bare);
    if (!encrypted) return;
    const deadline = setTimeout(() => bare.destroy(), wait);
    deadlines.set(bare, deadline);
    bare.once("close", () => clearTimeout(deadline));
  });
  server.on("secureConnection", (socket: Socket) => {
    follow(socket);
    const bare = bareOf(socket);
    if (bare !== undefined) clearTimeout(deadlines.get(bare));
    socket.once("close", () => bare?.destroy());
  });
  return open;
}

// `undefined` when everything is sent.
function owedBy({ [lastAnswer]: last }: Connection): ServerResponse | undefined {
  return last?.writableFinished === true ? undefined : last;
}

/**
 * Refuses what came last on a connection, behind the answers that it owes; closes it without a word when the request that
 * breaks off is answered already.
 *
 * `code` is that of Node's parser; without one it is a CONNECT.
 */
export function refuseInTurn(connection: Connection, code?: string): void {
  const last = connection[lastAnswer];
  const refuse = () => refuseSocket(connection, code);
  // Also sees the end of a client that Node no longer listens to.
  connection.resume();
  if (last === undefined) refuse();
  else if (last.req.complete) {
    if (last.writableFinished) refuse();
    else last.once("finish", refuse);
  }
  // The request that breaks off is the last one; one without a socket waits for those before it.
  else if (last.writableEnded) endSocket(connection);
  else if (last.socket !== null && !last.headersSent) refuse();
  else connection.destroy();
}

/**
 * Stops accepting and closes the connections of a server, of HTTPS both the bare and the encrypted ones.
 *
 * A connection that owes no answer is closed at once, any other when its last answer is sent, or after `grace` milliseconds.
 */
export function closeServer(server: AnyServer, open: ReadonlySet<Socket>, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = setTimeout(() => {
      for (const connection of open) connection.destroy();
    }, grace);
    server.close(() => {
      clearTimeout(deadline);
      resolve();
    });
    // The bare connection does not know what the encrypted one owes.
    const owing = new Set<Socket | undefined>();
    for (const connection of open) {
      const { [endGently]: end }: Connection = connection;
      const owed = owedBy(connection);
      if (owed !== undefined || end !== undefined) owing.add(connection).add(bareOf(connection));
      owed?.once("finish", () => connection.destroySoon());
      end?.();
    }
    for (const connection of open) if (!owing.has(connection)) connection.destroy();
  });
}

// Node's name for what an encrypted connection was made on; their peer does not tell, as another client may have its port.
function bareOf(connection: Socket & { readonly _parent?: Socket }): Socket | undefined {
  return connection._parent;
}
