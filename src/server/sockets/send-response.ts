import type { ServerResponse } from "node:http";
import { bodyParts } from "../../api/http-messages.js";
import { timers } from "../../node/platform.js";
import { cachedByName } from "../../rules/cached-by.js";
import type { ApiResponse, Delivery } from "../../sandbox/call.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Milliseconds until an idle connection is closed; sent in `Keep-Alive`. */
export const keepAliveTimeout = 5000;

/** The last headers of a response that leaves its connection open, and the end of its head. */
const endOfOpenHead = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveTimeout / 1000}\r\n\r\n`;

/** Sends the response to a request of the API, with the fault of its delivery. `explain`: with its outcome as a header. */
export function sendExchange(
  sandbox: SandboxState,
  exchange: Exchange,
  explain: boolean,
  response: ServerResponse,
): void {
  const { delivery, response: message } = exchange;
  const added = addedHeaders(exchange, explain);
  if (delivery === undefined) {
    sendResponse(message, added, response);
    return;
  }

  // The client should give up on a response that is broken off or held back: by that, it covers the fault.
  if (delivery.isWhole) {
    response.once("close", () => {
      if (response.writableFinished) return;
      // The outcome counts as covered, and the report tells that its response was not read.
      sandbox.counters.countUnread(exchange.id);
      exchange.isUnread = true;
    });
  }
  sendFaulty(delivery, { ...message, headers: [...message.headers, ...added.list] }, response);
}

/** The headers that the server adds to a response of the API. */
interface AddedHeaders {
  /** Names and values in turn, as Node takes them. */
  readonly list: readonly string[];
  /** The same in the bytes of HTTP, with the headers of an open connection and the empty line behind them. */
  readonly endOfHead: string;
}

/** The header `Date` of a second, in seconds since 1970, made once for all of its responses. */
let latest = { second: 0, added: headersOfSecond(0) };

/** The date of the sandbox, because clients wait for its minutes. Node would send the machine's. */
function headersOfSecond(second: number): AddedHeaders {
  const date = new Date(second * 1000).toUTCString();
  // Joined: V8 would flatten a string made with `+` again for every response.
  return { list: ["Date", date], endOfHead: [`Date: ${date}\r\n`, endOfOpenHead].join("") };
}

/** The headers that are added to the response of an exchange. `explain`: also its outcome. */
function addedHeaders({ date, at, outcome }: Exchange, explain: boolean): AddedHeaders {
  const second = Math.floor((date ?? at) / 1000);
  if (second !== latest.second) latest = { second, added: headersOfSecond(second) };
  const { added } = latest;
  if (!explain) return added;

  const outcomeLine = `X-Sandbox-Outcome: ${outcome}\r\n`;
  return {
    list: [...added.list, "X-Sandbox-Outcome", outcome],
    endOfHead: added.endOfHead.replace(endOfOpenHead, outcomeLine + endOfOpenHead),
  };
}

// Nearly every response is written past `writeHead` and `end`, which check the sandbox's own headers again: a server with them takes
// 1.24 times the processor time, and one that makes the date anew for each response 1.09 times. What they do is done here, as in
// `lib/_http_server.js` and `lib/_http_outgoing.js` of Node 20 to 24:
//
//     `writeHead` sets `statusCode`, for programs that observe responses.
//     `end` sets `finished`, which `writableEnded` and `writableFinished` return, and writes head and body to the socket.
//     When these are written, it emits `finish`. Node then gives the socket to the next response of the connection.

/** Sends a response with the headers that the server adds. */
function sendResponse(message: ApiResponse, added: AddedHeaders, response: ServerResponse): void {
  const length = lengthIn(message.headers);
  const { socket } = response;
  // It has a body, and is the first pending one, on an open connection without TLS that stays open.
  const canSendAtOnce =
    length !== undefined &&
    message.body !== "" &&
    socket?.writable === true &&
    !("encrypted" in socket) &&
    socket.writableLength === 0 &&
    response.shouldKeepAlive &&
    !response.headersSent;
  if (canSendAtOnce) {
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

/** Writes the bytes that Node would send, head and body in one write. `length`: the bytes of the body. */
function sendAtOnce(
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

// Responses with a fault.

/** Sends a response that a fault delays, breaks or leaves out. If the client goes away first, no timer and no connection remain. */
function sendFaulty(delivery: Delivery, message: ApiResponse, response: ServerResponse): void {
  const { kind, delayMs } = delivery;
  switch (kind) {
    case "hang":
      // Until the client gives up or the server stops. Its end shows only after the rest of its request is read.
      response.req.resume();
      return;
    case "reset": {
      const schedule = scheduleUntilClosed(response);
      schedule(delayMs, () => {
        // So that the client sees a reset. Node cannot reset the socket under TLS; for a client, an abrupt end is the same.
        const { socket } = response.req;
        if ("encrypted" in socket) socket.destroy();
        else socket.resetAndDestroy();
      });
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
