import type { Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { timers } from "../../node/platform.js";
import { endSocket, endWithError } from "./send-response.js";

const lastResponse = Symbol("last response");

const waitingRequests = Symbol("waiting requests");

/** A connection with its state between requests, in members, because a map would slow down every request. */
interface Connection extends Duplex {
  /** The response to its latest request; those before it are sent first. */
  [lastResponse]?: ServerResponse;
  /** How many of its requests wait for the response before them. */
  [waitingRequests]?: number;
  /** Node's parser of the connection. */
  parser?: { onIncoming: () => number } | null;
}

/**
 * The waiting requests of a connection that pause it. A few more can wait: Node parses all requests of one chunk, and resumes
 * reading when a request ends.
 */
const maxWaiting = 100;

// Each takes 3 kB. A client that reads has one chunk of 64 kB that waits: at most 2,427 requests.
const maxWaitingInAll = 2500;
/** A connection with no more of them is not ended for the others. */
const alwaysWaiting = 10;

/** Starts each request of a connection after the response before it: the responses would wait in memory. */
export class PipelinedRequests {
  /** The waiting requests of all open connections. */
  #waitingInAll = 0;

  start(response: ServerResponse, respond: () => void): void {
    const connection: Connection & Socket = response.req.socket;
    const responseBefore = connection[lastResponse];
    connection[lastResponse] = response;

    // Node gives the socket to one response at a time.
    const isItsTurn = response.socket !== null || responseBefore === undefined;
    if (isItsTurn) {
      respond();
      return;
    }
    if (connection.destroyed) return;

    const waiting = this.#countWaiting(connection, 1);
    if (this.#waitingInAll > maxWaitingInAll && waiting > alwaysWaiting) endInChunk(connection);
    else if (waiting >= maxWaiting) pauseInNextTick(connection);

    responseBefore.once("finish", () => {
      const left = this.#countWaiting(connection, -1);
      if (left === maxWaiting - 1) connection.resume();
      respond();
    });
  }

  /** Counts a request that starts or stops to wait; returns how many of its connection do. */
  #countWaiting(connection: Connection, change: 1 | -1): number {
    const waitingBefore = connection[waitingRequests];
    if (waitingBefore === undefined) {
      // The requests of a closed connection no longer wait.
      connection.once("close", () => {
        this.#waitingInAll -= connection[waitingRequests] ?? 0;
      });
    }

    const waiting = (waitingBefore ?? 0) + change;
    connection[waitingRequests] = waiting;
    this.#waitingInAll += change;
    return waiting;
  }
}

function pauseInNextTick(connection: Connection): void {
  timers.nextTick(() => {
    // Looks again: a response may have been sent since, and nothing would resume the connection after that.
    const { [waitingRequests]: waiting = 0 } = connection;
    if (waiting >= maxWaiting) connection.pause();
  });
}

/** Ends a connection amid a chunk of requests. Pausing would not help: many clients that read nothing have sent everything already. */
function endInChunk(connection: Connection): void {
  // Makes the next request of the chunk an error. Otherwise Node keeps all of them until the connection has closed.
  if (connection.parser) connection.parser.onIncoming = () => -1;
  connection.destroy();
}

export type AnyServer = Server | TlsServer;

/** Milliseconds until an HTTPS connection must be encrypted, and until an idle connection closes after its client ended it. */
export const longestHalfOpen = 10_000;

/** Returns the open connections of a server; with HTTPS, both the bare and the encrypted ones. Node leaves some that their clients have ended open forever. */
export function followConnections(server: AnyServer): ReadonlySet<Socket> {
  const open = new Set<Socket>();

  const follow = (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      bareOf(socket)?.destroy();
    });
    socket.once("end", () => {
      socket.setTimeout(longestHalfOpen, () => socket.destroy());
    });
  };

  server.on("connection", follow).on("secureConnection", follow);
  return open;
}

/** Ends a connection whose request cannot be read, after the responses before it. `code`: that of Node's parser; a CONNECT has none. */
export function endUnreadable(connection: Connection, code?: string): void {
  // Also sees the end of a client that Node no longer listens to.
  connection.resume();

  const last = connection[lastResponse];
  if (last === undefined || (last.req.complete && last.writableFinished)) {
    endWithError(connection, code);
  } else if (last.req.complete) {
    last.once("finish", () => endWithError(connection, code));
  } else {
    endBrokenOff(connection, last, code);
  }
}

/** Ends a connection whose last request breaks off after its response was asked for. */
function endBrokenOff(connection: Connection, response: ServerResponse, code: string | undefined): void {
  const isWaiting = response.socket === null;
  if (response.writableEnded) endSocket(connection);
  else if (isWaiting || response.headersSent) connection.destroy();
  else endWithError(connection, code);
}

/** Closes a server: each connection after its pending responses, but no later than after `grace` milliseconds. */
export function closeServer(server: AnyServer, open: ReadonlySet<Socket>, grace: number): Promise<void> {
  return new Promise((resolve) => {
    const deadline = timers.setTimeout(() => {
      for (const connection of open) connection.destroy();
    }, grace);
    server.close(() => {
      timers.clearTimeout(deadline);
      resolve();
    });

    // The connections that still have to send a response.
    const owing = new Set<Socket | undefined>();
    for (const connection of open) {
      const owed = (connection as Connection)[lastResponse];
      if (owed === undefined || owed.writableFinished) continue;
      // A bare connection does not know the responses of its encrypted one.
      owing.add(connection).add(bareOf(connection));
      owed.once("finish", () => connection.destroySoon());
    }

    for (const connection of open) {
      if (!owing.has(connection)) connection.destroy();
    }
  });
}

// Node's name for the bare connection. Comparing peers would not work, as another client may have the same port.
function bareOf(connection: Socket & { readonly _parent?: Socket }): Socket | undefined {
  return connection._parent;
}
