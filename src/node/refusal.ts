import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { errorBody } from "../api/error-body.js";
import { refusals } from "../domain/outcomes.js";

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Content Too Large",
  431: "Request Header Fields Too Large",
};

/** What to answer to bytes that Node's HTTP parser refused, by its error code. */
export function statusOfParserError(code: string | undefined): number {
  if (code === "HPE_HEADER_OVERFLOW") return 431;
  if (code === "HPE_CHUNK_EXTENSIONS_OVERFLOW") return 413;
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return 408;
  return 400;
}

/** How long a client may take to read a refusal and to close its half of the connection, in milliseconds. */
const lingering = 1000;

/** Answers on a bare socket, where there is no response object, and closes it. Does nothing on one that is gone. */
export function refuseSocket(socket: Duplex, status: number): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  // Node takes its own listeners off a CONNECT: without this one, a client that resets the connection ends the process.
  socket.on("error", () => socket.destroy());
  // What the client still sends is thrown away: closing on unread bytes would reset the connection before it has read
  // the refusal. The deadline is for a client that never closes, which would also hold up the server's own close.
  socket.resume();
  const deadline = setTimeout(() => socket.destroy(), lingering);
  socket.once("close", () => clearTimeout(deadline));
  const { text, bytes } = errorBody("bad_request", refusals.bad_request);
  socket.end(
    `HTTP/1.1 ${status} ${reasons[status] ?? "Bad Request"}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${bytes}\r\nConnection: close\r\n\r\n${text}`,
  );
}

/** Answers 400 or 500 in the API's error body and closes the connection. */
export function refuse(response: ServerResponse, status: 400 | 500): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const code = status === 400 ? "bad_request" : "internal_error";
  const { text, bytes } = errorBody(code, refusals[code]);
  response.writeHead(status, [
    "Content-Type",
    "application/json",
    "Content-Length",
    String(bytes),
    "Connection",
    "close",
  ]);
  response.end(text);
}
