import type { IncomingMessage, ServerResponse } from "node:http";
import { handle } from "../../api/handle.js";
import { errorBody } from "../../api/http-messages.js";
import { readApiRequest } from "../../api/read-request.js";
import { controlPath } from "../../rules/paths.js";
import type { RawRequest } from "../../rules/request.js";
import type { SandboxState } from "../../sandbox/sandbox-state.js";
import { type AnyServer, serverErrors, startInTurn } from "./connections.js";
import { sendExchange } from "./send-response.js";

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

/** Sends an error that is not of the specification, and ends the connection after it. `at`: the time of the sandbox's clock. */
function sendServerError(response: ServerResponse, status: 400 | 500, at: number): void {
  // A second head is not possible: the client sees the connection end.
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.shouldKeepAlive = false;
  const code = status === 400 ? "bad_request" : "internal_error";
  const { text, bytes } = errorBody(code, serverErrors[code]);
  // Node would send the machine's date.
  response.setHeader("Date", new Date(at).toUTCString());
  response.writeHead(status, { "Content-Type": "application/json", "Content-Length": bytes }).end(text);
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
