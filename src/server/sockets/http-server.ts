import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { handle } from "../../api/handle.js";
import { readApiRequest } from "../../api/read-request.js";
import { controlPath } from "../../rules/known-paths.js";
import type { RawRequest } from "../../rules/request.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import {
  type AnyServer,
  endUnreadable,
  followConnections,
  sendServerError,
  startInTurn,
} from "./connections.js";
import { sendExchange } from "./send-response.js";
import type { CertificatePair } from "./tls.js";

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const http = process.getBuiltinModule("node:http");

const serverOptions: ServerOptions = {
  // The specification has no limit: a key of 16 KB is a malformed key, not a malformed request.
  maxHeaderSize: 64 * 1024,
  // `hasValidHost` checks it, so that the response has the API's error body.
  requireHostHeader: false,
  // Milliseconds until an idle connection is closed.
  keepAliveTimeout: 5000,
};

const tlsOptions: TlsOptions = {
  ALPNProtocols: ["http/1.1"],
  // Milliseconds until a connection must be encrypted.
  handshakeTimeout: 10_000,
};

/** What responds to the requests of a server. */
interface Responders {
  readonly sandbox: SandboxState;
  /** Whether API responses have `X-Sandbox-Outcome`. */
  readonly explain: boolean;
  /** The control plane; `undefined` if it is not served. */
  readonly handleControl: ((request: IncomingMessage, response: ServerResponse) => Promise<void>) | undefined;
  /** The base URL of the server, as the client of a request knows it. */
  readonly baseUrlFor: (request: IncomingMessage) => string;
  /** Aborted when the server is about to stop: each connection ends after its next response. */
  readonly stopping: AbortSignal;
  /** Called with a defect; the client got a 500. */
  readonly onDefect: (error: unknown) => void;
}

/** Makes a server, with the set of its open connections. It responds to nothing before `respondTo`. */
export function createHttpServer(certificate?: CertificatePair) {
  let server: AnyServer;
  if (certificate === undefined) server = http.createServer(serverOptions);
  else {
    const https = process.getBuiltinModule("node:https");
    server = https.createServer({ ...serverOptions, ...tlsOptions, ...certificate });
  }
  // Node would drop all headers after the first 1,000, among them a key or the second of two keys.
  server.maxHeadersCount = 0;

  server.on("connect", (_request, socket) => {
    // Node removes its own listeners. Without this one, a client that resets the connection would end the process.
    socket.on("error", () => socket.destroy());
    endUnreadable(socket);
  });

  const socketsWithError = new WeakSet<Duplex>();
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    // A client that does not speak TLS, or rejects the certificate, could not read a response.
    const cannotRead = code === "ECONNRESET" || /^ERR_(?:SSL|TLS)_/.test(code);
    if (cannotRead) {
      socket.destroy();
      return;
    }
    // Each further chunk after an invalid request causes another error.
    if (socketsWithError.has(socket)) return;
    socketsWithError.add(socket);
    endUnreadable(socket, code);
  });
  return { server, openConnections: followConnections(server) };
}

/** Responds to the requests of a server from now on. None ends the process. */
export function respondTo(server: AnyServer, responders: Responders): void {
  const listener = (_request: IncomingMessage, response: ServerResponse) => {
    if (responders.stopping.aborted) response.shouldKeepAlive = false;
    startInTurn(response, () => tryToRespond(responders, response));
  };
  server.on("request", listener);
  // An unknown expectation is not a reason to reject a valid request.
  server.on("checkExpectation", listener);
}

/** Responds; a defect is a 500, and ends nothing else. */
function tryToRespond(responders: Responders, response: ServerResponse): void {
  const sendDefect = (error: unknown) => {
    responders.onDefect(error);
    sendServerError(response, 500, responders.sandbox.clock.now());
  };
  try {
    respond(responders, response)?.catch(sendDefect);
  } catch (error) {
    sendDefect(error);
  }
}

const insideControl = `${controlPath}/`;

/** Responds as the control plane under its path, and as the API everywhere else. Only the control plane may take a while. */
function respond(responders: Responders, response: ServerResponse): Promise<void> | undefined {
  const { sandbox, handleControl, baseUrlFor } = responders;
  const { req: request } = response;
  if (!hasValidHost(request)) {
    sendServerError(response, 400, sandbox.clock.now());
    return undefined;
  }
  // Node drops requests pipelined after an upgrade.
  if (offersUpgrade(request)) response.shouldKeepAlive = false;

  const received = readRequest(request);
  const hasControl = handleControl !== undefined;
  if (hasControl && (received.path === controlPath || received.path.startsWith(insideControl))) {
    return handleControl(request, response);
  }

  // A browser opens the printed base URL, as clients of the API do not request HTML: the response names the address of the dashboard.
  const { path, method } = received;
  const isFirstPage = path === "/" && method === "GET" && request.headers.accept?.includes("text/html");
  let apiRequest = readApiRequest(received);
  if (hasControl && isFirstPage) {
    const dashboard = `${baseUrlFor(request) + controlPath}/`;
    apiRequest = readApiRequest({ ...received, dashboard });
  }
  sendExchange(sandbox, handle(sandbox, apiRequest), responders.explain, response);
  return undefined;
}

// Raw headers, because Node's header object costs as much as the rest of the response.

/** Whether a request has exactly one Host, which HTTP/1.1 requires (RFC 9112 §3.2), or none in HTTP/1.0. */
function hasValidHost({ rawHeaders, httpVersionMinor }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (isNamed(rawHeaders[index] as string, "host")) hosts += 1;
  }
  if (hosts === 0) return httpVersionMinor !== 1;
  return hosts === 1;
}

/** Whether a client offers to go on with another protocol. Java's client offers h2c with every request, but pipelines nothing. */
function offersUpgrade({ rawHeaders }: IncomingMessage): boolean {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (isNamed(rawHeaders[index] as string, "upgrade") && rawHeaders[index + 1] !== "h2c") return true;
  }
  return false;
}

/** Whether the name of a header is this one, which is in lower case. */
function isNamed(header: string, name: string): boolean {
  return header.length === name.length && header.toLowerCase() === name;
}

function readRequest({
  method = "GET",
  url: target = "/",
  rawHeaders: headers,
}: IncomingMessage): RawRequest {
  const startOfQuery = target.indexOf("?");
  const beforeQuery = startOfQuery === -1 ? target : target.slice(0, startOfQuery);
  const query = startOfQuery === -1 ? "" : target.slice(startOfQuery);
  if (beforeQuery.startsWith("/")) return { method, authority: "", path: beforeQuery, query, headers };

  // Clients send `GET http://host/path` to proxies; servers must also accept it (RFC 9112 §3.2.2).
  const [authority = ""] = /^https?:\/\/[^/]*/i.exec(beforeQuery) ?? [];
  const path = beforeQuery.slice(authority.length);
  return { method, authority, path: authority === "" ? path : path || "/", query, headers };
}
