import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import { controlPath } from "../node/addresses.js";
import { clearInterval, setInterval } from "../node/platform.js";
import { connectionPair } from "./connection-pair.js";
import { type AnyServer, type Connection, endGently } from "./connections.js";
import { refuse } from "./send-answer.js";

type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** Handles an HTTP/2 request; gets its headers joined by Node, and one by one. */
type OnStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => void;

/** Milliseconds until an idle HTTP/2 connection is closed. */
const longestIdle = 10_000;

/** The minimum time for the client of a closed connection to read the last response, in milliseconds. */
const lingering = 1000;

/** The size limit for headers in bytes, counting 32 more for each. No header is dropped, as with HTTP/1.1. */
const maxHeaderSize = 64 * 1024;

/**
 * The size limit for the headers of all requests in progress on a connection, counted in the same way: in HTTP/2, one byte
 * on the wire can expand to thousands.
 */
const maxHeldHeaders = 4 * maxHeaderSize;

const limits = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: maxHeaderSize },
  maxHeaderListPairs: maxHeaderSize / 32,
  // Node's default is 1,000, more than mistakes cause.
  maxSessionInvalidFrames: 100,
};

/**
 * Adds HTTP/2 to an HTTPS server, for clients that choose it.
 *
 * `serveApi` handles a GET of the API on its stream. All other requests, or all requests if `serveApi` is `undefined`, go
 * through the server's own HTTP/1.1 in memory: Express and the body readers support only that.
 */
export function acceptHttp2(server: AnyServer, serveApi: Serve | undefined, idle = longestIdle): void {
  const [serveHttp1] = server.listeners("secureConnection") as [(connection: Duplex) => void];
  const onStream =
    ({ remoteAddress }: TLSSocket): OnStream =>
    (stream, headers, raw) => {
      const { ":method": method, ":path": path, ":authority": authority, host = authority } = headers;
      // CONNECT has no path, and a server with two names is malformed (RFC 9113 §8.3.1).
      if (path === undefined || (authority !== undefined && host !== authority)) {
        stream.resume();
        refuse(responseOn(stream), 400);
        return;
      }
      const rawHeaders = http1Headers(raw, headers);
      const isDirect = method === "GET" && stream.endAfterHeaders && !path.includes(controlPath);
      if (serveApi === undefined || !isDirect) {
        if (headers["content-length"] === undefined) rawHeaders.push(...framingOf(stream));
        const serve = (connection: Duplex) =>
          serveHttp1.call(server, Object.assign(connection, { remoteAddress }));
        passOn(serve, stream, { method, path, headers: rawHeaders });
        return;
      }
      const response = responseOn(stream);
      headers.host = host;
      const request = { method, url: path, rawHeaders, headers, httpVersionMinor: 1 };
      serveApi(Object.assign(response.req, request), response);
    };
  server.off("secureConnection", serveHttp1);
  server.on("secureConnection", (socket: TLSSocket) => {
    if (socket.alpnProtocol === "h2") openSession(socket, onStream(socket), idle);
    else serveHttp1.call(server, socket);
  });
}

function openSession(socket: TLSSocket & Connection, onStream: OnStream, idle: number): void {
  // Loaded here: not needed while all clients speak HTTP/1.1.
  const session = process.getBuiltinModule("node:http2").performServerHandshake(socket, limits);
  /** The streams, each with the size of its headers in bytes. */
  const streams = new Map<ServerHttp2Stream, number>();
  let held = 0;
  let isEnding = false;
  function forget(this: ServerHttp2Stream) {
    held -= streams.get(this) ?? 0;
    streams.delete(this);
    if (isEnding && streams.size === 0) session.destroy();
  }
  socket[endGently] = () => {
    isEnding = true;
    if (session.destroyed) socket.destroy();
    else if (streams.size > 0) session.goaway();
    else session.destroy();
  };
  // A client may break off at any time, and Node throws errors that nothing listens to.
  for (const one of [socket, session]) one.on("error", ignore);
  // Node waits for a client that reads nothing, and no event shows that.
  const looking = setInterval(() => {
    if (session.destroyed) socket.destroy();
  }, lingering);
  looking.unref();
  socket.once("close", () => clearInterval(looking));
  session.on(
    "stream",
    (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: string[]) => {
      const bytes = raw.reduce((sum, text) => sum + text.length + 16, 0);
      streams.set(stream, bytes);
      held += bytes;
      stream.on("error", ignore);
      stream.on("close", forget);
      // Already reset.
      if (stream.destroyed) return;
      if (held > maxHeldHeaders) stream.close(refusedStream);
      else onStream(stream, headers, raw);
    },
  );
  session.setTimeout(idle);
  session.on("timeout", () => {
    // Stays open for a response that a fault delays, not for a client that neither sends nor reads.
    const waits = (one: ServerHttp2Stream) =>
      !one.writableEnded && one.writableLength === 0 && (one.endAfterHeaders || one.readableEnded);
    if ([...streams.keys()].some(waits)) session.setTimeout(idle);
    else session.destroy();
  });
}

/** REFUSED_STREAM (RFC 9113 §7): the request had no effect, and the client may resend it. */
const refusedStream = 7;

const ignore = () => {};

/** The response on a stream. */
interface StreamAnswer {
  readonly stream: ServerHttp2Stream;
  readonly req: { readonly socket: StreamAnswer; readonly resume: () => void };
}

// The members of a response and its connection that `send-answer.ts` uses. They are on one prototype: to set them for each
// stream would take longer than everything else. The stream is the connection, so that a fault ends only this stream.
const members: ThisType<StreamAnswer> & object = {
  // As if it waited for an earlier response: parallel requests do not show which responses their client has seen.
  socket: null,
  shouldKeepAlive: true,
  encrypted: true,
  get headersSent() {
    return this.stream.headersSent;
  },
  get writableFinished() {
    return this.stream.writableFinished;
  },
  once(event: string, act: () => void) {
    this.stream.once(event, act);
  },
  writeHead(status: number, headers: readonly string[] | OutgoingHttpHeaders) {
    const { stream } = this;
    if (!stream.destroyed && !stream.closed) stream.respond(http2Headers(status, headers));
    return this;
  },
  flushHeaders() {},
  write(text: string, then?: () => void) {
    this.stream.write(text, then);
  },
  end(text?: string) {
    // The stream of a HEAD request has already ended.
    if (!this.stream.writableEnded) this.stream.end(text);
  },
  // With an error, which becomes INTERNAL_ERROR: `close` would end the body first, so that a client would accept a short one.
  // A client would resend a refused stream.
  destroy() {
    this.stream.destroy(new Error("The response was cut off."));
  },
  destroySoon() {
    this.stream.destroy(new Error("The response was cut off."));
  },
};

function responseOn(stream: ServerHttp2Stream): ServerResponse {
  const response = Object.create(members);
  response.stream = stream;
  response.req = { socket: response, resume: ignore };
  return response;
}

const ofHttp1 = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "transfer-encoding",
  "upgrade",
]);

// HTTP/2 has lower-case names and no headers about the connection.
function http2Headers(status: number, given: readonly string[] | OutgoingHttpHeaders): OutgoingHttpHeaders {
  const flat = Array.isArray(given) ? given : Object.entries(given).flat();
  const headers: OutgoingHttpHeaders = { ":status": status };
  for (let i = 0; i < flat.length; i += 2) {
    const name = flat[i].toLowerCase();
    const earlier = headers[name] as string | string[] | undefined;
    if (ofHttp1.has(name)) continue;
    headers[name] = earlier === undefined ? flat[i + 1] : [earlier, flat[i + 1]].flat();
  }
  return headers;
}

// Leaves out the pseudo-headers, and joins the cookies again (RFC 9113 §8.2.3).
function http1Headers(
  raw: readonly string[],
  { ":authority": authority, cookie }: IncomingHttpHeaders,
): string[] {
  const headers: string[] = authority === undefined ? [] : ["host", authority];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    const isAgain = (name === "host" && authority !== undefined) || name === "cookie";
    if (!name.startsWith(":") && !isAgain) headers.push(name, raw[i + 1] as string);
  }
  return cookie === undefined ? headers : [...headers, "cookie", cookie];
}

// A body without a length ends with its stream.
function framingOf({ endAfterHeaders }: ServerHttp2Stream): readonly [name: string, value: string] {
  return endAfterHeaders ? ["content-length", "0"] : ["transfer-encoding", "chunked"];
}

interface PassedOn {
  readonly method: string | undefined;
  readonly path: string;
  readonly headers: readonly string[];
}

/** Passes a request to an HTTP/1.1 server on its own connection in memory, and its response back to the stream. */
function passOn(
  serve: (connection: Duplex) => void,
  stream: ServerHttp2Stream,
  { method, path, headers }: PassedOn,
): void {
  const { client, server } = connectionPair();
  server.once("close", () => client.destroy());
  const response = responseOn(stream);
  try {
    serve(server);
    const request = process.getBuiltinModule("node:http").request({
      method,
      path,
      maxHeaderSize,
      headers: headers as unknown as OutgoingHttpHeaders,
      createConnection: () => client,
    });
    stream.once("close", () => request.destroy());
    request.on("continue", () => {
      if (!stream.closed) stream.additionalHeaders({ ":status": 100 });
    });
    request.on("response", (answer) => {
      response.writeHead(answer.statusCode as number, answer.rawHeaders);
      answer.on("error", () => response.destroy());
      answer.pipe(stream);
    });
    request.on("error", () => {
      if (!stream.headersSent) response.destroy();
    });
    stream.pipe(request);
    // Reads the rest of a body that the response did not wait for; registered after the pipe, which would stop it.
    request.once("close", () => stream.resume());
  } catch {
    refuse(response, 400);
  }
}
