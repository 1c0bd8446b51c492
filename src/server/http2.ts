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

/** Takes a request in HTTP/2; its headers as Node joins them, and one by one. */
type OnStream = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  rawHeaders: readonly string[],
) => void;

/** Milliseconds after which a connection of HTTP/2 on which nothing happens is closed. */
const longestIdle = 10_000;

/** The time that the client of a closed one has at least to read what was sent, in milliseconds. */
const lingering = 1000;

/** The most bytes of headers, with 32 more for each; no number of them is left out, as with HTTP/1.1. */
const maxHeaderSize = 64 * 1024;

/**
 * The most bytes of headers of all requests in progress on a connection, counted in the same way: in HTTP/2 a byte on the wire
 * can stand for thousands.
 */
const maxHeldHeaders = 4 * maxHeaderSize;

const limits = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: maxHeaderSize },
  maxHeaderListPairs: maxHeaderSize / 32,
  // Node's default is 1,000: more than mistakes make.
  maxSessionInvalidFrames: 100,
};

/**
 * Makes a server of HTTPS speak HTTP/2 as well, with clients that choose it.
 *
 * A GET of the API is answered by `serveApi`, on its stream. Everything else goes through the server's own HTTP/1.1, in
 * memory, because Express and the readers of bodies know nothing else; without `serveApi` each request does.
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
  // Loaded here: a server whose clients speak HTTP/1.1 does not need it.
  const session = process.getBuiltinModule("node:http2").performServerHandshake(socket, limits);
  /** The streams, with the bytes of their headers. */
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
  // A client may break off at any time, and Node throws an error that nothing listens to.
  for (const one of [socket, session]) one.on("error", ignore);
  // Node waits until a client that reads nothing has got the rest, and no event says that it does.
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
      // Reset before it was looked at.
      if (stream.destroyed) return;
      if (held > maxHeldHeaders) stream.close(refusedStream);
      else onStream(stream, headers, raw);
    },
  );
  session.setTimeout(idle);
  session.on("timeout", () => {
    // Left open for an answer that a fault holds back, not for a client that neither sends nor reads.
    const waits = (one: ServerHttp2Stream) =>
      !one.writableEnded && one.writableLength === 0 && (one.endAfterHeaders || one.readableEnded);
    if ([...streams.keys()].some(waits)) session.setTimeout(idle);
    else session.destroy();
  });
}

/** REFUSED_STREAM (RFC 9113 §7): nothing was done, and the client may send the request again. */
const refusedStream = 7;

const ignore = () => {};

/** The answer of a stream. */
interface StreamAnswer {
  readonly stream: ServerHttp2Stream;
  readonly req: { readonly socket: StreamAnswer; readonly resume: () => void };
}

// What `send-answer.ts` uses of an answer and of its connection, on one prototype: members for each stream would take
// longer than the rest. The connection is the stream alone: a fault that ends it must not hit the others on the real one.
const members: ThisType<StreamAnswer> & object = {
  // As if it waited for its turn: requests that are under way together say nothing of which answers their client knew.
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
    // The stream of a HEAD has ended already.
    if (!this.stream.writableEnded) this.stream.end(text);
  },
  // With an error, because `close` would end the body before: a client would take a short one for the whole. It becomes
  // INTERNAL_ERROR; a refused stream would be repeated.
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

// Names of HTTP/2 are lower-case, and it has none of those that are about a connection.
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

// Without the pseudo-headers, which stand first, and with a cookie in one piece again (RFC 9113 §8.2.3).
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

// The end of a body without a length is that of its stream.
function framingOf({ endAfterHeaders }: ServerHttp2Stream): readonly [name: string, value: string] {
  return endAfterHeaders ? ["content-length", "0"] : ["transfer-encoding", "chunked"];
}

interface PassedOn {
  readonly method: string | undefined;
  readonly path: string;
  readonly headers: readonly string[];
}

/** Answers a stream with what a server of HTTP/1.1 answers to the same request, on a connection of its own in memory. */
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
    // Reads the rest of a body that the answer did not wait for; behind the pipe, which would stop it.
    request.once("close", () => stream.resume());
  } catch {
    refuse(response, 400);
  }
}
