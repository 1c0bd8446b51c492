import type { IncomingMessage, ServerResponse } from "node:http";
import { cachedByName } from "../../rules/cached-by.js";
import type { ApiResponse } from "../../sandbox/journal/exchange.js";
import type { AddedHeaders } from "./added-headers.js";

// Nearly every response is written past Node's `writeHead` and `end`, which check the sandbox's own headers again and take 1.24
// times the processor time. What Node does there is done in `sendAtOnce`.

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Whether a response can be written at once, as nearly every one: it has a body, and is the first pending one, on an open connection without TLS. */
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

/** A request with Node's own mark of those that somebody reads. */
type NodeRequest = IncomingMessage & { _consuming?: boolean };

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

  response.statusCode = status; // as `writeHead` sets it
  response.finished = true; // as `end` sets it: Node's getter `writableEnded` returns it
  response.socket?.write(text, encoding, (error) => {
    if (error) return;
    // After `finish`, Node reads the rest of each request that is not marked as read. A complete request has no rest, and reading it
    // would emit events that nobody hears, for 10% of the time.
    const request: NodeRequest = response.req;
    if (request.complete) request._consuming = true;
    // Hears this in Node: the code that gives the socket to the next response.
    response.emit("finish");
  });
}

// Cached and joined: V8 would flatten a string made with `+` again for every response.
const statusLine = cachedByName((status: number) =>
  ["HTTP/1.1", status, `${STATUS_CODES[status]}\r\n`].join(" "),
);
