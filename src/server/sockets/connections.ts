import type { Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import { timers } from "../../node/platform.js";
import { type Connection, latestResponseOn } from "./pipelined-requests.js";
import { endSocket, endWithError } from "./send-error.js";

export type AnyServer = Server | TlsServer;

/** Milliseconds until an idle connection closes after its client has ended it. */
const longestIdleAfterEnd = 10_000;

/**
 * Returns the open connections of a server, kept up to date; with HTTPS, both the encrypted ones and the TCP connections under
 * them. Closes connections that their clients have ended: Node leaves some of them open forever.
 */
export function followConnections(server: AnyServer): ReadonlySet<Socket> {
  const openConnections = new Set<Socket>();

  const keepUntilClosed = (connection: Socket) => {
    openConnections.add(connection);
    connection.once("close", () => {
      openConnections.delete(connection);
      // Node closes an encrypted connection, and may leave the one under it open.
      socketUnderTls(connection)?.destroy();
    });
    connection.once("end", () => {
      connection.setTimeout(longestIdleAfterEnd, () => connection.destroy());
    });
  };

  server.on("connection", keepUntilClosed).on("secureConnection", keepUntilClosed);
  return openConnections;
}

/** The TCP socket under an encrypted one, which only this member of Node tells (`lib/_tls_wrap.js` of Node 20 to 24). */
function socketUnderTls(connection: Socket & { readonly _parent?: Socket }): Socket | undefined {
  return connection._parent;
}

/**
 * Ends a connection on which a request cannot be read. The client gets the whole responses before the error, and no error in the
 * middle of one. `code`: that of Node's parser; a CONNECT has none.
 */
export function endUnreadable(connection: Connection, code?: string): void {
  // Node has stopped listening to the connection. Without reading, nothing would show that the client ends it.
  connection.resume();

  const latestResponse = latestResponseOn(connection);
  if (latestResponse === undefined) {
    endWithError(connection, code);
    return;
  }
  const isInBody = !latestResponse.req.complete;
  if (isInBody) {
    endInBody(connection, latestResponse, code);
    return;
  }

  // What cannot be read comes after a whole request, whose response is sent first.
  if (latestResponse.writableFinished) endWithError(connection, code);
  else latestResponse.once("finish", () => endWithError(connection, code));
}

/** Ends a connection on which the body of a request cannot be read. `response`: the response to that request. */
function endInBody(connection: Connection, response: ServerResponse, code: string | undefined): void {
  // The request has its response: an error would be a second one.
  if (response.writableEnded) {
    endSocket(connection);
    return;
  }

  // Node gives the socket to one response at a time: without the socket, this response waits for the one before it.
  const isWaiting = response.socket === null;
  const mayBeSentInPart = isWaiting || response.headersSent;
  // An error would be in the middle of this response, or of the one before it.
  if (mayBeSentInPart) {
    connection.destroy();
    return;
  }
  endWithError(connection, code);
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

    closeAfterResponses(openConnections);
  });
}

/** Closes the connections that have a response to send after that response, and all others now. */
function closeAfterResponses(openConnections: ReadonlySet<Socket>): void {
  const stillSending = new Set<Socket>();
  for (const connection of openConnections) {
    const response = latestResponseOn(connection);
    const hasToSend = response !== undefined && !response.writableFinished;
    if (!hasToSend) continue;

    response.once("finish", () => connection.destroySoon());
    stillSending.add(connection);
    // An encrypted connection sends through the TCP socket under it, which is in the set of open connections, too.
    const tcpSocket = socketUnderTls(connection);
    if (tcpSocket !== undefined) stillSending.add(tcpSocket);
  }

  for (const connection of openConnections) {
    if (!stillSending.has(connection)) connection.destroy();
  }
}
