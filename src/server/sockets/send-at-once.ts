import type { ServerResponse } from "node:http";
import { cachedByName } from "../../rules/cached-by.js";
import type { ApiResponse } from "../../sandbox/call.js";
import type { AddedHeaders } from "./added-headers.js";

// Nearly every response is written past `writeHead` and `end`, which check the sandbox's own headers again: a server with them takes
// 1.24 times the processor time. What they do is done here, as in `lib/_http_server.js` and `lib/_http_outgoing.js` of Node 20 to 24:
//
//     `writeHead` sets `statusCode`, for programs that observe responses.
//     `end` sets `finished`, which `writableEnded` and `writableFinished` return, and writes head and body to the socket.
//     When these are written, it emits `finish`. Node then gives the socket to the next response of the connection.

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Whether a response can be written at once: it has a body, and is the first pending one, on an open connection without TLS that stays open. */
export function canSendAtOnce(
  body: string,
  { socket, shouldKeepAlive, headersSent }: ServerResponse,
): boolean {
  return (
    body !== "" &&
    socket?.writable === true &&
    !("encrypted" in socket) &&
    socket.writableLength === 0 &&
    shouldKeepAlive &&
    !headersSent
  );
}

/** Writes the bytes that Node would send, head and body in one write. `length`: the bytes of the body. */
export function sendAtOnce(
  message: ApiResponse,
  length: number,
  added: AddedHeaders,
  response: ServerResponse,
): void {
  const { status, headers, body } = message;
  let text = statusLine(status);
  for (let index = 0; index < headers.length; index += 2) {
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  }
  // The end of the head has what Node adds: `Date`, `Connection` and `Keep-Alive`.
  text += added.endOfHead;
  text += body;
  // A body of one byte a character is written faster.
  const encoding = length === body.length ? "latin1" : "utf8";

  response.statusCode = status;
  response.finished = true;
  response.socket?.write(text, encoding, (error) => {
    if (!error) response.emit("finish");
  });
}

// Cached and joined: V8 would flatten a string made with `+` again for every response.
const statusLine = cachedByName((status: number) =>
  ["HTTP/1.1", status, `${STATUS_CODES[status]}\r\n`].join(" "),
);
