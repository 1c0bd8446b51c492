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

/** How to end a connection on which a request cannot be read. */
type ConnectionEnd =
  | { readonly kind: "with_error" }
  | { readonly kind: "with_error_after"; readonly response: ServerResponse }
  | { readonly kind: "without_error" }
  | { readonly kind: "abruptly" };

/** Chooses the end of a connection: the client gets the whole responses before the error, and no error in the middle of one. */
function endingOf(connection: Connection): ConnectionEnd {
  const response = latestResponseOn(connection);
  if (response === undefined) return { kind: "with_error" };

  // If the latest request was read to its end, something behind it cannot be read.
  const isRequestWhole = response.req.complete;
  if (isRequestWhole && response.writableFinished) return { kind: "with_error" };
  if (isRequestWhole) return { kind: "with_error_after", response };

  // Otherwise its own body cannot be read. It gets no second response.
  if (response.writableEnded) return { kind: "without_error" };
  // Node gives the socket to one response at a time: without the socket, this response waits for the one before it.
  const isWaiting = response.socket === null;
  // A part of this response, or of the one before it, may be sent.
  if (isWaiting || response.headersSent) return { kind: "abruptly" };
  return { kind: "with_error" };
}

/** Ends a connection on which a request cannot be read. `code`: that of Node's parser; a CONNECT has none. */
export function endUnreadable(connection: Connection, code?: string): void {
  // Node has stopped listening to the connection. Without reading, nothing would show that the client ends it.
  connection.resume();

  const ending = endingOf(connection);
  switch (ending.kind) {
    case "with_error":
      endWithError(connection, code);
      return;
    case "with_error_after":
      ending.response.once("finish", () => endWithError(connection, code));
      return;
    case "without_error":
      endSocket(connection);
      return;
    case "abruptly":
      connection.destroy();
      return;
    default:
      ending satisfies never;
  }
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
