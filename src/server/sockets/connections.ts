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

/** How far the latest request of a connection and its response have come. */
type LatestExchange =
  | { readonly kind: "none" }
  /** The whole request was read; its response is sent. */
  | { readonly kind: "sent" }
  /** The whole request was read; its response is still to be sent. */
  | { readonly kind: "to_send"; readonly response: ServerResponse }
  /** The request's body was not read to its end; its response has ended already. */
  | { readonly kind: "unread_body_answered" }
  /** The request's body was not read to its end; its response, or the one before it, may be sent in part. */
  | { readonly kind: "unread_body_amid_responses" }
  /** The request's body was not read to its end; nothing of its response is sent, and those before it are sent whole. */
  | { readonly kind: "unread_body_unanswered" };

function latestExchangeOn(connection: Connection): LatestExchange {
  const response = latestResponseOn(connection);
  if (response === undefined) return { kind: "none" };

  const isRequestWhole = response.req.complete;
  if (isRequestWhole) return response.writableFinished ? { kind: "sent" } : { kind: "to_send", response };

  if (response.writableEnded) return { kind: "unread_body_answered" };
  // Node gives the socket to one response at a time: without the socket, this response waits for the one before it.
  const isWaiting = response.socket === null;
  if (isWaiting || response.headersSent) return { kind: "unread_body_amid_responses" };
  return { kind: "unread_body_unanswered" };
}

/**
 * Ends a connection on which a request cannot be read. The client gets the whole responses before the error, and no error in the
 * middle of one. `code`: that of Node's parser; a CONNECT has none.
 */
export function endUnreadable(connection: Connection, code?: string): void {
  // Node has stopped listening to the connection. Without reading, nothing would show that the client ends it.
  connection.resume();

  const latest = latestExchangeOn(connection);
  switch (latest.kind) {
    case "none":
    case "sent":
    case "unread_body_unanswered":
      endWithError(connection, code);
      return;
    case "to_send":
      latest.response.once("finish", () => endWithError(connection, code));
      return;
    case "unread_body_answered":
      endSocket(connection);
      return;
    case "unread_body_amid_responses":
      connection.destroy();
      return;
    default:
      latest satisfies never;
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
