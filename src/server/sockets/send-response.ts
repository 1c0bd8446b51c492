import type { ServerResponse } from "node:http";
import { cachedByName } from "../../rules/cached-by.js";
import type { ApiResponse } from "../../sandbox/call.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";

// Nearly every response is written past `writeHead` and `end`, which check the sandbox's own headers again: a server with them takes
// 1.24 times the processor time, and one that makes the date anew for each response 1.09 times. What they do is done here, as in
// `lib/_http_server.js` and `lib/_http_outgoing.js` of Node 20 to 24:
//
//     `writeHead` sets `statusCode`, for programs that observe responses.
//     `end` sets `finished`, which `writableEnded` and `writableFinished` return, and writes head and body to the socket.
//     When these are written, it emits `finish`. Node then gives the socket to the next response of the connection.

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Milliseconds until an idle connection is closed; sent in `Keep-Alive`. */
export const keepAliveTimeout = 5000;

/** The last headers of a response that leaves its connection open, and the end of its head. */
const endOfOpenHead = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveTimeout / 1000}\r\n\r\n`;

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
export function addedHeaders({ date, at, outcome }: Exchange, explain: boolean): AddedHeaders {
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

/** Sends a response with the headers that the server adds. */
export function sendResponse(message: ApiResponse, added: AddedHeaders, response: ServerResponse): void {
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
