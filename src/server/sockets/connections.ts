import type { Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import { timers } from "../../node/platform.js";
import { type Connection, latestResponseOn } from "./pipelined-requests.js";
import { endSocket, endWithError } from "./send-response.js";

export type AnyServer = Server | TlsServer;

/** Milliseconds until an HTTPS connection must be encrypted, and until an idle connection closes after its client ended it. */
export const longestHalfOpen = 10_000;

/**
 * Returns the open connections of a server, kept up to date; with HTTPS, both the encrypted ones and the TCP connections under
 * them. Closes connections that their clients have ended: Node leaves some of them open forever.
 */
export function followConnections(server: AnyServer): ReadonlySet<Socket> {
  const open = new Set<Socket>();

  const follow = (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => {
      open.delete(socket);
      socketUnderTls(socket)?.destroy();
    });
    socket.once("end", () => {
      socket.setTimeout(longestHalfOpen, () => socket.destroy());
    });
  };

  server.on("connection", follow).on("secureConnection", follow);
  return open;
}

/** Node's name for the TCP socket under an encrypted one. Comparing peers would not work, as another client may have the same port. */
function socketUnderTls(connection: Socket & { readonly _parent?: Socket }): Socket | undefined {
  return connection._parent;
}

/** Ends a connection whose request cannot be read, after the responses before it. `code`: that of Node's parser; a CONNECT has none. */
export function endUnreadable(connection: Connection, code?: string): void {
  // Otherwise nothing would show that the client ends: Node has stopped listening to it.
  connection.resume();

  const latest = latestResponseOn(connection);
  const isIdle = latest === undefined || (latest.req.complete && latest.writableFinished);
  if (isIdle) {
    endWithError(connection, code);
  } else if (latest.req.complete) {
    // The unreadable request is a further one: its error comes after this response.
    latest.once("finish", () => endWithError(connection, code));
  } else {
    endBrokenOff(connection, latest, code);
  }
}

/** Ends a connection whose latest request breaks off in its body, when its response may have started already. */
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

    // The connections that still have to send a response end after it.
    const pending = new Set<Socket | undefined>();
    for (const connection of open) {
      const response = latestResponseOn(connection);
      if (response === undefined || response.writableFinished) continue;
      // A TCP socket does not know the responses of the encrypted one over it.
      pending.add(connection).add(socketUnderTls(connection));
      response.once("finish", () => connection.destroySoon());
    }

    // All others end now.
    for (const connection of open) {
      if (!pending.has(connection)) connection.destroy();
    }
  });
}
