import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { bodyParts } from "../../api/fault-responses.js";
import { errorBody } from "../../api/http-messages.js";
import { timers } from "../../node/platform.js";
import { cachedByName } from "../../rules/cached-by.js";
import type { TextBody } from "../../sandbox/endpoint.js";
import type { ApiResponse, Delivery } from "../../sandbox/journal/exchange.js";

/** Errors outside the specification: invalid HTTP, and a defect of the sandbox. */
export const serverErrors = {
  bad_request: "The request could not be understood.",
  internal_error: "The sandbox failed to respond. This is a defect of the sandbox.",
} as const;

/** Sends a response with the headers that the server adds. */
export function sendResponse(message: ApiResponse, added: readonly string[], response: ServerResponse): void {
  if (hasLength(message.headers) && canSendAtOnce(message.body, response)) {
    sendAtOnce(message, added, response);
    return;
  }
  response.writeHead(message.status, [...message.headers, ...added]);
  response.end(message.body);
}

// Without a length, Node sends chunks. The length is nearly always the last header.
function hasLength(headers: readonly string[]): boolean {
  if (headers.at(-2) === "Content-Length") return true;
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === "content-length") return true;
  }
  return false;
}

// True for nearly every response: the first pending one, on an open connection without TLS.
function canSendAtOnce(body: string, { socket, shouldKeepAlive, headersSent }: ServerResponse): boolean {
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

// The same bytes in one write: Node's functions check the sandbox's own headers again, and take 1.24 times the processor time.
function sendAtOnce(message: ApiResponse, added: readonly string[], response: ServerResponse): void {
  const { status, headers, body } = message;
  let text = statusLine(status);
  // A body of one byte a character is written faster.
  let isAscii = false;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index];
    const value = headers[index + 1];
    if (name === "Content-Length") isAscii = Number(value) === body.length;
    text += `${name}: ${value}\r\n`;
  }

  response.statusCode = status;
  // As after `end`: the connection continues with its next request at the event `finish`.
  response.finished = true;
  response.socket?.write(text + endOfHead(added) + body, isAscii ? "latin1" : "utf8", (error) => {
    if (error) return;
    const request: NodeRequest = response.req;
    // Node would read a complete request to its end and emit events that nobody hears, for 10% of its time.
    if (request.complete) request._consuming = true;
    response.emit("finish");
  });
}

// Cached and joined: V8 would flatten a string made with `+` again for every response.
const statusLine = cachedByName((status: number) =>
  ["HTTP/1.1", status, `${STATUS_CODES[status]}\r\n`].join(" "),
);

/** The end of a head, with the headers that the server adds: the same for a second. */
let latestEnd: { readonly added: readonly string[]; readonly text: string } = { added: [], text: "" };

function endOfHead(added: readonly string[]): string {
  if (latestEnd.added !== added) {
    const parts: string[] = [];
    for (let index = 0; index < added.length; index += 2) {
      parts.push(`${added[index]}: `, `${added[index + 1]}\r\n`);
    }
    parts.push(keepsOpen);
    latestEnd = { added, text: parts.join("") };
  }
  return latestEnd.text;
}

/** Milliseconds until an idle connection is closed; sent in `Keep-Alive`. */
export const keepAliveTimeout = 5000;

const keepsOpen = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveTimeout / 1000}\r\n\r\n`;

/** If the client goes away first, no timer and no connection remain. */
export function sendFaulty(delivery: Delivery, message: ApiResponse, response: ServerResponse): void {
  const { kind, delayMs } = delivery;
  switch (kind) {
    case "hang":
      // Until the client gives up or the server stops. Its end shows only after the rest of its request is read.
      response.req.resume();
      return;
    case "reset": {
      const later = timersOf(response);
      later(delayMs, () => resetConnection(response));
      return;
    }
    case "send": {
      const later = timersOf(response);
      later(delayMs, () => sendParts(delivery, message, response, later));
      return;
    }
    default:
      kind satisfies never;
  }
}

/** Sends the parts of a body with pauses between them. */
function sendParts(delivery: Delivery, message: ApiResponse, response: ServerResponse, later: Later): void {
  response.writeHead(message.status, message.headers as string[]);
  response.flushHeaders();

  const { parts, pauseMs } = bodyParts(message.body, delivery);
  if (parts.length === 0) {
    endBody(delivery, response);
    return;
  }

  const sendFrom = (index: number) => {
    later(pauseMs, () => {
      response.write(parts[index]);
      const isLast = index === parts.length - 1;
      if (isLast) endBody(delivery, response);
      else sendFrom(index + 1);
    });
  };
  sendFrom(0);
}

/** Runs an act after a time, unless the connection is closed by then. */
type Later = (ms: number, act: () => void) => void;

// One listener for all pauses of a response: a slow one has hundreds.
function timersOf(response: ServerResponse): Later {
  let timer: NodeJS.Timeout | undefined;
  response.once("close", () => timers.clearTimeout(timer));
  return (ms, act) => {
    if (ms === 0) act();
    else timer = timers.setTimeout(act, ms);
  };
}

/** Ends a response, or cuts its connection where the delivery cuts the body. */
function endBody({ cutAfter }: Delivery, response: ServerResponse): void {
  if (cutAfter === undefined) {
    response.end();
    return;
  }
  // Flushes first. Then the client sees the connection end before the body.
  response.write("", () => response.req.socket.destroySoon());
}

/** Ends a connection so that the client sees a reset. */
function resetConnection({ req: { socket } }: ServerResponse): void {
  // Node cannot reset the socket under TLS; for a client, an abrupt end is the same.
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Sends an error that is not of the specification, and ends the connection after it. */
export function sendServerError(response: ServerResponse, status: 400 | 500): void {
  response.shouldKeepAlive = false;
  const code = status === 400 ? "bad_request" : "internal_error";
  sendError(response, status, errorBody(code, serverErrors[code]));
}

function sendError(response: ServerResponse, status: number, { text, bytes }: TextBody): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { "Content-Type": "application/json", "Content-Length": bytes }).end(text);
}

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

const statusOfParserError: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Milliseconds until an ended connection is closed whose client does not close it. */
const lingering = 1000;

/** Responds to an unreadable request; `code` is an error code of Node's parser. */
export function endWithError(socket: Duplex, code = ""): void {
  const status = statusOfParserError[code] ?? 400;
  const { text, bytes } = errorBody("bad_request", serverErrors.bad_request);
  endSocket(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${bytes}\r\nConnection: close\r\n\r\n${text}`,
  );
}

/** Ends a connection after a text. */
export function endSocket(socket: Duplex, text = ""): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  // Discards the rest: closing with unread bytes would reset the connection before the client has read the response.
  socket.resume();
  const deadline = timers.setTimeout(() => socket.destroy(), lingering); // clients that never close would delay the server's close
  socket.once("close", () => timers.clearTimeout(deadline));
  socket.end(text);
}
