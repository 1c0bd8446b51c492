import type { ServerResponse } from "node:http";
import { cachedByName } from "../../sandbox/cached-by.js";
import type { ApiResponse } from "../../sandbox/call.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";

// Nearly every response is written past Node's `writeHead` and `end`, which check the sandbox's own headers again: with them, a
// request takes 16% more processor time. What they do is done here, as in `lib/_http_server.js` and `lib/_http_outgoing.js` of
// Node 20 to 24:
//
//     `writeHead` sets `statusCode`, for programs that observe responses.
//     `end` sets `finished`, which `writableEnded` and `writableFinished` return, and writes head and body to the socket.
//     When these are written, it emits `finish`. Node then gives the socket to the next response of the connection.
//
// The bytes are those of Node. A response that needs more than this goes through Node.

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

/** Milliseconds until an idle connection is closed; sent in `Keep-Alive`. */
export const keepAliveTimeout = 5000;

/** What Node adds to a response that leaves its connection open, and the end of the head. */
const endOfOpenHead = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveTimeout / 1000}\r\n\r\n`;

/** The headers that the server adds to a response of the API. */
interface AddedHeaders {
  /** Names and values in turn, as Node takes them. */
  readonly list: readonly string[];
  /** The same in the bytes of HTTP, up to the end of the head of a response that leaves its connection open. */
  readonly endOfHead: string;
}

/** The headers of the latest second, in seconds since 1970, made once for all of its responses. */
let latest = { second: 0, added: headersOfSecond(0) };

/** The date of the sandbox, because clients wait for its minutes. Node would send the machine's. */
function headersOfSecond(second: number): AddedHeaders {
  const date = new Date(second * 1000).toUTCString();
  // Joined: V8 would flatten a string made with `+` again for every response.
  return { list: ["Date", date], endOfHead: [`Date: ${date}\r\n`, endOfOpenHead].join("") };
}

/** `explain`: with the outcome. */
export function addedHeaders({ date, at, outcome }: Exchange, explain: boolean): AddedHeaders {
  const second = Math.floor((date ?? at) / 1000);
  if (second !== latest.second) latest = { second, added: headersOfSecond(second) };
  const { list, endOfHead } = latest.added;
  if (!explain) return latest.added;
  return {
    list: [...list, "X-Sandbox-Outcome", outcome],
    endOfHead: endOfHead.replace(endOfOpenHead, `X-Sandbox-Outcome: ${outcome}\r\n${endOfOpenHead}`),
  };
}

/** Sends a response of the API with the headers that the server adds. */
export function sendWhole(message: ApiResponse, added: AddedHeaders, response: ServerResponse): void {
  const { status, headers, body } = message;
  const length = lengthIn(headers);
  const { socket } = response;
  // It has a body, and is the first pending one, on an open connection without TLS that stays open.
  const canSendAtOnce =
    length !== undefined &&
    body !== "" &&
    socket?.writable === true &&
    !("encrypted" in socket) &&
    socket.writableLength === 0 &&
    response.shouldKeepAlive &&
    !response.headersSent;
  if (!canSendAtOnce) {
    response.writeHead(status, [...headers, ...added.list]).end(body);
    return;
  }

  let text = statusLine(status);
  for (let index = 0; index < headers.length; index += 2) {
    text += `${headers[index]}: ${headers[index + 1]}\r\n`;
  }
  text += added.endOfHead;
  text += body;
  // A body of one byte a character is written faster.
  const encoding = Number(length) === body.length ? "latin1" : "utf8";

  response.statusCode = status;
  response.finished = true;
  socket.write(text, encoding, (error) => {
    if (!error) response.emit("finish");
  });
}

/** How many bytes a body has, as headers say it; `undefined` if they don't. Node sends such a body in chunks. */
function lengthIn(headers: readonly string[]): string | undefined {
  // The length is nearly always the last header.
  for (let index = headers.length - 2; index >= 0; index -= 2) {
    if (headers[index]?.toLowerCase() === "content-length") return headers[index + 1];
  }
  return undefined;
}

// Joined for the same reason.
const statusLine = cachedByName((status: number) =>
  ["HTTP/1.1", status, `${STATUS_CODES[status]}\r\n`].join(" "),
);
