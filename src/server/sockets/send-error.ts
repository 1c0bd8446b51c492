import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { errorBody } from "../../api/http-messages.js";
import { timers } from "../../node/platform.js";

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Errors outside the specification: invalid HTTP, and a defect of the sandbox. */
export const serverErrors = {
  bad_request: "The request could not be understood.",
  internal_error: "The sandbox failed to respond. This is a defect of the sandbox.",
} as const;

/** Milliseconds until an ended connection is closed whose client does not close it. */
const lingerMs = 1000;

/** Sends an error that is not of the specification, and ends the connection after it. */
export function sendServerError(response: ServerResponse, status: 400 | 500): void {
  // A second head is not possible: the client sees the connection end.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.shouldKeepAlive = false;
  const code = status === 400 ? "bad_request" : "internal_error";
  const { text, bytes } = errorBody(code, serverErrors[code]);
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": bytes }).end(text);
}

/** The statuses of the errors of Node's parser. Default: 400. */
const statusOfParserError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Responds to an unreadable request, which has no response of Node, and ends its connection. `code` is that of Node's parser. */
export function endWithError(socket: Duplex, code = ""): void {
  const status = statusOfParserError[code] ?? 400;
  const { text, bytes } = errorBody("bad_request", serverErrors.bad_request);
  endSocket(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${bytes}\r\nConnection: close\r\n\r\n${text}`,
  );
}

/** Ends a connection, after a last text. */
export function endSocket(socket: Duplex, text = ""): void {
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
