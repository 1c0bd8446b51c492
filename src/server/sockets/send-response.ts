import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { bodyParts } from "../../api/body-parts.js";
import { errorBody } from "../../api/http-messages.js";
import { timers } from "../../node/platform.js";
import type { ApiResponse, Delivery } from "../../sandbox/journal/exchange.js";
import type { AddedHeaders } from "./added-headers.js";
import { canSendAtOnce, sendAtOnce } from "./send-at-once.js";

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Errors outside the specification: invalid HTTP, and a defect of the sandbox. */
export const serverErrors = {
  bad_request: "The request could not be understood.",
  internal_error: "The sandbox failed to respond. This is a defect of the sandbox.",
} as const;

/** Milliseconds until an ended connection is closed whose client does not close it. */
const lingerMs = 1000;

/** Sends a response with the headers that the server adds. */
export function sendResponse(message: ApiResponse, added: AddedHeaders, response: ServerResponse): void {
  const length = lengthIn(message.headers);
  if (length !== undefined && canSendAtOnce(message.body, response)) {
    sendAtOnce(message, Number(length), added, response);
    return;
  }
  response.writeHead(message.status, [...message.headers, ...added.list]);
  response.end(message.body);
}

/** How many bytes a body has, as headers say it; `undefined` if they don't. Node sends such a body in chunks. */
function lengthIn(headers: readonly string[]): string | undefined {
  // The length is nearly always the last header.
  if (headers.at(-2) === "Content-Length") return headers.at(-1);
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index]?.toLowerCase() === "content-length") return headers[index + 1];
  }
  return undefined;
}

/** Sends a response that a fault delays, breaks or leaves out. If the client goes away first, no timer and no connection remain. */
export function sendFaulty(delivery: Delivery, message: ApiResponse, response: ServerResponse): void {
  const { kind, delayMs } = delivery;
  switch (kind) {
    case "hang":
      // Until the client gives up or the server stops. Its end shows only after the rest of its request is read.
      response.req.resume();
      return;
    case "reset": {
      const schedule = scheduleUntilClosed(response);
      schedule(delayMs, () => resetConnection(response));
      return;
    }
    case "send": {
      const schedule = scheduleUntilClosed(response);
      schedule(delayMs, () => sendParts(delivery, message, response, schedule));
      return;
    }
    default:
      kind satisfies never;
  }
}

/** Runs an act after a time, unless the connection is closed by then. */
type Schedule = (ms: number, act: () => void) => void;

/** The schedule of one response. It has one listener for all pauses: a slow response has hundreds. */
function scheduleUntilClosed(response: ServerResponse): Schedule {
  let timer: NodeJS.Timeout | undefined;
  response.once("close", () => timers.clearTimeout(timer));
  return (ms, act) => {
    if (ms === 0) act();
    else timer = timers.setTimeout(act, ms);
  };
}

/** Ends a connection so that the client sees a reset. */
function resetConnection({ req: { socket } }: ServerResponse): void {
  // Node cannot reset the socket under TLS; for a client, an abrupt end is the same.
  if ("encrypted" in socket) socket.destroy();
  else socket.resetAndDestroy();
}

/** Sends the head, and the parts of the body with pauses before them. */
function sendParts(
  delivery: Delivery,
  message: ApiResponse,
  response: ServerResponse,
  schedule: Schedule,
): void {
  response.writeHead(message.status, message.headers as string[]);
  response.flushHeaders();

  const { parts, pauseMs } = bodyParts(message.body, delivery);
  if (parts.length === 0) {
    endBody(delivery, response);
    return;
  }

  const sendFrom = (index: number) => {
    schedule(pauseMs, () => {
      response.write(parts[index]);
      const isLast = index === parts.length - 1;
      if (isLast) endBody(delivery, response);
      else sendFrom(index + 1);
    });
  };
  sendFrom(0);
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
