import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { handle } from "../../api/handle.js";
import { type Received, receivedRequest } from "../../rules/request.js";
import { controlPath } from "../../rules/request-path.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { type AnyServer, endUnreadable, followConnections, longestHalfOpen, Turns } from "./connections.js";
import { keepAliveTimeout, sendFaulty, sendResponse, sendServerError } from "./send-response.js";
import type { ServerState } from "./server-state.js";
import type { CertificatePair } from "./tls.js";

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const http = process.getBuiltinModule("node:http");

/** Every request gets a response, and none ends the process. */
export function createHttpServer(state: ServerState, certificate?: CertificatePair) {
  const turns = new Turns();
  const listener = (_request: IncomingMessage, response: ServerResponse) => receive(state, turns, response);
  const server: AnyServer =
    certificate === undefined
      ? http.createServer(serverOptions, listener)
      : process
          .getBuiltinModule("node:https")
          .createServer({ ...serverOptions, ...tlsOptions, ...certificate }, listener);
  // Node would drop all headers after the first 1,000, among them a key or the second of two keys.
  server.maxHeadersCount = 0;
  // An unknown expectation is not a reason to reject a valid request.
  server.on("checkExpectation", listener);
  server.on("connect", (_request, socket) => {
    // Node removes its own listeners. Without this one, a client that resets the connection would end the process.
    socket.on("error", () => socket.destroy());
    endUnreadable(socket);
  });
  const broken = new WeakSet<Duplex>();
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    // A client that does not speak TLS, or rejects the certificate, could not read a response.
    if (code === "ECONNRESET" || /^ERR_(?:SSL|TLS)_/.test(code)) return socket.destroy();
    // Each further chunk after an invalid request causes another error.
    if (broken.has(socket)) return;
    broken.add(socket);
    endUnreadable(socket, code);
  });
  return { server, open: followConnections(server) };
}

function receive(state: ServerState, turns: Turns, response: ServerResponse) {
  if (state.stopping.signal.aborted) response.shouldKeepAlive = false;
  turns.start(response, () => attempt(state, response, () => respond(state, response)));
}

function attempt(state: ServerState, response: ServerResponse, act: () => void) {
  try {
    act();
  } catch (error) {
    state.onDefect(error);
    sendServerError(response, 500);
  }
}

function respond(state: ServerState, response: ServerResponse) {
  const { control, sandbox } = state;
  const { req: request } = response;
  const received = readRequest(request, response);
  if (received === undefined) return sendServerError(response, 400);
  if (control !== undefined && isControlPath(received.path)) return control(request, response);
  const toDashboard = () => ({ ...received, dashboard: `${state.baseUrlFor(request) + controlPath}/` });
  const isPage = control !== undefined && isFirstPage(received, response);
  sendExchange(state, handle(sandbox, receivedRequest(isPage ? toDashboard() : received)), response);
}

function sendExchange(state: ServerState, exchange: Exchange, response: ServerResponse) {
  const { explain, sandbox } = state;
  const { outcome, delivery, at, date = at, response: message } = exchange;
  const dated = dateOf(date);
  const more = explain ? [...dated, "X-Sandbox-Outcome", outcome] : dated;
  if (delivery === undefined) return sendResponse(message, more, response);
  // A client that gives up does not see the response that the report counts as covered. For other faults, giving up is right.
  if (delivery.isWhole) {
    response.once("close", () => response.writableFinished || markUnread(sandbox, exchange));
  }
  sendFaulty(delivery, { ...message, headers: [...message.headers, ...more] }, response);
}

function markUnread({ counters }: SandboxState, exchange: Exchange): void {
  counters.countUnread(exchange.id);
  exchange.isUnread = true;
}

// The date of the sandbox, because clients wait for its minutes; Node would send the machine's. Formatted once a second.
let latestDate: { readonly second: number; readonly header: readonly string[] } = {
  second: Number.NaN,
  header: [],
};

function dateOf(at: number): readonly string[] {
  const second = Math.floor(at / 1000);
  if (second !== latestDate.second) {
    latestDate = { second, header: ["Date", new Date(second * 1000).toUTCString()] };
  }
  return latestDate.header;
}

const serverOptions: ServerOptions = {
  // The specification has no limit: a key of 16 KB is a malformed key, not a malformed request.
  maxHeaderSize: 64 * 1024,
  // `readRequest` checks it, so that the response has the API's error body.
  requireHostHeader: false,
  keepAliveTimeout,
};

const tlsOptions: TlsOptions = { ALPNProtocols: ["http/1.1"], handshakeTimeout: longestHalfOpen };

// People open the printed base URL; clients of the API do not request HTML.
function isFirstPage({ path, method }: Received, { req }: ServerResponse): boolean {
  return path === "/" && method === "GET" && req.headers.accept?.includes("text/html") === true;
}

const insideControl = `${controlPath}/`;

const isControlPath = (path: string) => path === controlPath || path.startsWith(insideControl);

// Clients send `GET http://host/path` to proxies; servers must also accept it (RFC 9112 §3.2.2).
function authorityOf(target: string): string {
  return target.startsWith("/") ? "" : (/^https?:\/\/[^/?]*/i.exec(target)?.[0] ?? "");
}

function pathOf(target: string, start: number): string {
  const end = target.indexOf("?", start);
  if (start === 0) return end === -1 ? target : target.slice(0, end);
  return target.slice(start, end === -1 ? undefined : end) || "/";
}

function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start);
}

function readRequest(request: IncomingMessage, response: ServerResponse): Received | undefined {
  let hosts = 0;
  const target = request.url ?? "/";
  // Raw headers, because Node's header object costs as much as the rest of the response.
  const headers = request.rawHeaders;
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (name === "host") hosts += 1;
    // Node drops requests pipelined after an upgrade. Java's client offers h2c with every request, but pipelines nothing.
    else if (name === "upgrade" && headers[i + 1] !== "h2c") response.shouldKeepAlive = false;
  }
  // HTTP/1.1 requires exactly one Host (RFC 9112 §3.2).
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor === 1)) return undefined;
  const { method = "GET" } = request;
  const authority = authorityOf(target);
  return { method, authority, path: pathOf(target, authority.length), query: queryOf(target), headers };
}
