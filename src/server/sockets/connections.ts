import type { Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import { timers } from "../../node/platform.js";
import { type Connection, latestResponseOn } from "./pipelined-requests.js";
import { endSocket, endWithError } from "./send-error.js";

export type AnyServer = Server | TlsServer;

/** Milliseconds until an HTTPS connection must be encrypted, and until an idle connection closes after its client ended it. */
export const longestHalfOpen = 10_000;

/**
 * Returns the open connections of a server, kept up to date; with HTTPS, both the encrypted ones and the TCP connections under
 * them. Closes connections that their clients have ended: Node leaves some of them open forever.
 */
export function followConnections(server: AnyServer): ReadonlySet<Socket> {
  const openConnections = new Set<Socket>();

  const follow = (connection: Socket) => {
    openConnections.add(connection);
    connection.once("close", () => {
      openConnections.delete(connection);
      // Node closes an encrypted connection, and may leave the one under it open.
      socketUnderTls(connection)?.destroy();
    });
    connection.once("end", () => {
      connection.setTimeout(longestHalfOpen, () => connection.destroy());
    });
  };

  server.on("connection", follow).on("secureConnection", follow);
  return openConnections;
}

/** Node's name for the TCP socket under an encrypted one. Comparing peers would not work, as another client may have the same port. */
function socketUnderTls(connection: Socket & { readonly _parent?: Socket }): Socket | undefined {
  return connection._parent;
}

/**
 * Ends a connection whose request cannot be read, after the responses before it; nothing may stand in the middle of one. `code`:
 * that of Node's parser; a CONNECT has none.
 */
export function endUnreadable(connection: Connection, code?: string): void {
  // Otherwise nothing would show that the client ends: Node has stopped listening to it.
  connection.resume();

  const response = latestResponseOn(connection);
  if (response === undefined) {
    endWithError(connection, code);
    return;
  }
  const isFurtherRequest = response.req.complete;
  if (isFurtherRequest) endAfter(response, connection, code);
  else endInBody(response, connection, code);
}

/** Ends a connection whose unreadable request comes after the one of a response. */
function endAfter(response: ServerResponse, connection: Connection, code: string | undefined): void {
  const isSent = response.writableFinished;
  if (isSent) endWithError(connection, code);
  else response.once("finish", () => endWithError(connection, code));
}

/** Ends a connection whose unreadable part is in the body of the request of a response. */
function endInBody(response: ServerResponse, connection: Connection, code: string | undefined): void {
  // The client gets its whole response.
  if (response.writableEnded) {
    endSocket(connection);
    return;
  }
  // Node gives the socket to one response at a time. Without it, this one waits for the one before it.
  const isWaiting = response.socket === null;
  // An error would stand in the middle of a response.
  if (isWaiting || response.headersSent) connection.destroy();
  else endWithError(connection, code);
}

/** Closes a server: each connection after its pending responses, but no later than after `grace` milliseconds. */
export function closeServer(
  server: AnyServer,
  openConnections: ReadonlySet<Socket>,
  grace: number,
): Promise<void> {
  return new Promise((resolve) => {
    const deadline = timers.setTimeout(() => {
      for (const connection of openConnections) connection.destroy();
    }, grace);
    server.close(() => {
      timers.clearTimeout(deadline);
      resolve();
    });

    // The connections that still have to send a response end after it.
    const pending = new Set<Socket | undefined>();
    for (const connection of openConnections) {
      const response = latestResponseOn(connection);
      if (response === undefined || response.writableFinished) continue;
      // A TCP socket does not know the responses of the encrypted one over it.
      pending.add(connection).add(socketUnderTls(connection));
      response.once("finish", () => connection.destroySoon());
    }

    // All others end now.
    for (const connection of openConnections) {
      if (!pending.has(connection)) connection.destroy();
    }
  });
}
