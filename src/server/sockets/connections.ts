import type { Server, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { errorBody } from "../../api/http-messages.js";
import { timers } from "../../node/platform.js";
import { type Connection, latestResponseOn } from "./pipelined-requests.js";

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

export type AnyServer = Server | TlsServer;

// What bounds the time and the memory of a server, and where:
//
// | bound                                                        | where                                       |
// |--------------------------------------------------------------|---------------------------------------------|
// | idle between requests: 5 s                                   | `keepAliveTimeout` in `send-response.ts`    |
// | idle after its client has ended it: 10 s                     | `longestIdleAfterEnd` here                  |
// | ended here, and not closed by its client: 1 s                | `lingerMs` here                             |
// | until it is encrypted: 10 s                                  | `handshakeTimeout` in `http-server.ts`      |
// | the head of a request: 64 kB                                 | `maxHeaderSize` in `http-server.ts`         |
// | requests that wait: 100 of a connection, then it is paused   | `maxWaiting` in `pipelined-requests.ts`     |
// | requests that wait: 2,500 in all, then connections end       | `maxWaitingInAll` in `pipelined-requests.ts`|
// | the body of a control call: 256,000 bytes                    | `maxBodyBytes` in `control/app.ts`          |
// | unread responses of the control plane: 32 MB in all          | `maxUnsent` in `control/app.ts`             |

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

/** Errors outside the specification: invalid HTTP, and a defect of the sandbox. */
export const serverErrors = {
  bad_request: "The request could not be understood.",
  internal_error: "The sandbox failed to respond. This is a defect of the sandbox.",
} as const;

/** Milliseconds until an ended connection is closed whose client does not close it. */
const lingerMs = 1000;

/** Sends an error that is not of the specification, and ends the connection after it. `at`: the time of the sandbox's clock. */
export function sendServerError(response: ServerResponse, status: 400 | 500, at: number): void {
  // A second head is not possible: the client sees the connection end.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.shouldKeepAlive = false;
  const code = status === 400 ? "bad_request" : "internal_error";
  const { text, bytes } = errorBody(code, serverErrors[code]);
  // Node would send the machine's date.
  response.setHeader("Date", new Date(at).toUTCString());
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": bytes }).end(text);
}

/** The statuses of the errors of Node's parser. Default: 400. */
const statusOfParserError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Responds to an unreadable request, which has no response of Node, and ends its connection. `code` is that of Node's parser. */
function endWithError(socket: Duplex, code = ""): void {
  const status = statusOfParserError[code] ?? 400;
  const { text, bytes } = errorBody("bad_request", serverErrors.bad_request);
  endSocket(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${bytes}\r\nConnection: close\r\n\r\n${text}`,
  );
}

/** Ends a connection, after a last text. */
function endSocket(socket: Duplex, text = ""): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  // Discards the rest: closing with unread bytes would reset the connection before the client has read the response.
  socket.resume();
  // Clients that never close would delay the server's close.
  const deadline = timers.setTimeout(() => socket.destroy(), lingerMs);
  socket.once("close", () => timers.clearTimeout(deadline));
  socket.end(text);
}
