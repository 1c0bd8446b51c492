import type { Server, ServerOptions, ServerResponse } from "node:http";
import type { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { errorBody } from "../../api/http-messages.js";
import { timers } from "../../node/platform.js";
import type { CertificatePair } from "./tls.js";

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const http = process.getBuiltinModule("node:http");

export type AnyServer = Server | TlsServer;

// What bounds the time and the memory of a server, and where:
//
// | bound                                                        | where                                       |
// |--------------------------------------------------------------|---------------------------------------------|
// | idle between requests: 5 s                                   | `keepAliveTimeout` here                      |
// | idle after its client has ended it: 10 s                     | `longestIdleAfterEnd` here                  |
// | ended here, and not closed by its client: 1 s                | `lingerMs` here                             |
// | until it is encrypted: 10 s                                  | `handshakeTimeout` here                      |
// | until its head is read: 60 s                                 | Node's `headersTimeout`                     |
// | until it is read as a whole: 5 min                           | Node's `requestTimeout`                     |
// | the head of a request: 64 kB                                 | `maxHeaderSize` here                         |
// | requests that wait on a connection: 100, then it is paused   | `maxWaiting` here                           |
// | requests that wait on a connection: 3,000, then it ends      | `mostWaiting` here                          |
// | the body of a control call: 256,000 bytes                    | `maxBodyBytes` in `control/app.ts`          |
// | what clients have not read, when a control call runs: 32 MB  | `maxUnread` here                            |

const serverOptions: ServerOptions = {
  // The specification has no limit: a key of 16 KB is a malformed key, not a malformed request.
  maxHeaderSize: 64 * 1024,
  // `hasValidHost` checks it, so that the response has the API's error body.
  requireHostHeader: false,
  // Milliseconds until an idle connection is closed.
  keepAliveTimeout: 5000,
};

const tlsOptions: TlsOptions = {
  ALPNProtocols: ["http/1.1"],
  // Milliseconds until a connection must be encrypted.
  handshakeTimeout: 10_000,
};

/** Makes a server, with the set of its open connections. It responds to nothing before `respondTo`. */
export function createHttpServer(certificate?: CertificatePair) {
  let server: AnyServer;
  if (certificate === undefined) server = http.createServer(serverOptions);
  else {
    const https = process.getBuiltinModule("node:https");
    server = https.createServer({ ...serverOptions, ...tlsOptions, ...certificate });
  }
  // Node would drop all headers after the first 1,000, among them a key or the second of two keys.
  server.maxHeadersCount = 0;

  server.on("connect", (_request, socket) => {
    // Node removes its own listeners. Without this one, a client that resets the connection would end the process.
    socket.on("error", () => socket.destroy());
    endUnreadable(socket);
  });

  const socketsWithError = new WeakSet<Duplex>();
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    // A client that does not speak TLS, or rejects the certificate, could not read a response.
    const cannotRead = code === "ECONNRESET" || /^ERR_(?:SSL|TLS)_/.test(code);
    if (cannotRead) {
      socket.destroy();
      return;
    }
    // Each further chunk after an invalid request causes another error.
    if (socketsWithError.has(socket)) return;
    socketsWithError.add(socket);
    endUnreadable(socket, code);
  });
  return { server, openConnections: followConnections(server) };
}

/** Milliseconds until an idle connection closes after its client has ended it. */
const longestIdleAfterEnd = 10_000;

/**
 * Returns the open connections of a server, kept up to date; with HTTPS, both the encrypted ones and the TCP connections under
 * them. Closes connections that their clients have ended: Node leaves some of them open forever.
 */
function followConnections(server: AnyServer): ReadonlySet<Socket> {
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

// A client may pipeline: it sends further requests on its connection before it has the response to the first one. Node parses a
// chunk of up to 64 kB at once: each request in it becomes an event with a response of its own, before anything is sent. The socket
// belongs to one response at a time; its event `finish` hands the socket to the next one. Node itself resumes a paused connection when
// one of its requests ends.

/** Once so many requests of a connection wait, it is not read any more until fewer do. */
const maxWaiting = 100;

/** Beyond so many, the connection ends: more than a chunk has. Each takes 3 kB. */
const mostWaiting = 3000;

const latestResponse = Symbol("latest response");
const waitingRequests = Symbol("waiting requests");

/** A connection with its state between requests, in members, because a map would slow down every request. */
interface Connection extends Duplex {
  /** The response to its latest request; those before it are sent first. */
  [latestResponse]?: ServerResponse;
  /** How many of its requests wait for the response before them. */
  [waitingRequests]?: number;
}

/**
 * Starts a request once the response before it on its connection is sent, never before: it sees what those before it have changed, and
 * no finished response stays in memory. Never starts it if the connection ends before.
 */
export function startInTurn(response: ServerResponse, start: () => void): void {
  const connection: Connection & Socket = response.req.socket;
  const responseBefore = connection[latestResponse];
  connection[latestResponse] = response;

  // The first response of a connection waits for none. Any later one has the socket once those before it are sent.
  const isItsTurn = responseBefore === undefined || response.socket !== null;
  if (isItsTurn) {
    start();
    return;
  }

  const waitingOn = () => connection[waitingRequests] ?? 0;
  connection[waitingRequests] = waitingOn() + 1;
  if (waitingOn() > mostWaiting) {
    connection.destroy();
    return;
  }
  if (waitingOn() >= maxWaiting) {
    // Once Node has parsed the chunk. With fewer by then, nothing would resume the connection.
    timers.nextTick(() => {
      if (waitingOn() >= maxWaiting) connection.pause();
    });
  }
  responseBefore.once("finish", () => {
    connection[waitingRequests] = waitingOn() - 1;
    if (waitingOn() === maxWaiting - 1) connection.resume();
    start();
  });
}

/** Bytes of responses that clients have not read, all together. Few responses are longer than 2 MB. */
const maxUnread = 32_000_000;

/** Ends the connection with most unread bytes if clients leave too many unread. Called before each response that may be long. */
export function endSlowestClient(openConnections: ReadonlySet<Socket>): void {
  let unread = 0;
  let slowest: Socket | undefined;
  for (const connection of openConnections) {
    unread += connection.writableLength;
    if (connection.writableLength > (slowest?.writableLength ?? 0)) slowest = connection;
  }
  if (unread > maxUnread) slowest?.destroy();
}

/** The TCP socket under an encrypted one, which only this member of Node tells (`lib/_tls_wrap.js` of Node 20 to 24). */
function socketUnderTls(connection: Socket & { readonly _parent?: Socket }): Socket | undefined {
  return connection._parent;
}

/** Whether nothing is under way on a connection: its latest request is read as a whole, and its response is sent. */
function isIdle({ [latestResponse]: response }: Connection): boolean {
  return response === undefined || (response.req.complete && response.writableFinished);
}

/**
 * Ends a connection on which a request cannot be read: with an error, which follows the response to the request before it. If what
 * cannot be read belongs to the latest request itself, that gets no second response. `code`: that of Node's parser; a CONNECT has none.
 */
function endUnreadable(connection: Connection, code?: string): void {
  // Node has stopped listening to the connection. Without reading, nothing would show that the client ends it.
  connection.resume();

  const response = connection[latestResponse];
  if (response === undefined || isIdle(connection)) {
    endWithError(connection, code);
    return;
  }
  if (response.req.complete) {
    response.once("finish", () => endWithError(connection, code));
    return;
  }
  if (response.writableEnded) endSocket(connection);
  else connection.destroy();
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
function closeAfterResponses(openConnections: ReadonlySet<Socket & Connection>): void {
  const stillSending = new Set<Socket>();
  for (const connection of openConnections) {
    if (isIdle(connection)) continue;

    const response = connection[latestResponse];
    if (response?.writableFinished) connection.destroySoon();
    else response?.once("finish", () => connection.destroySoon());
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
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
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
