import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { errorBody } from "../../api/messages.js";
import { responseOf } from "../../api/response.js";
import { inputAt } from "../../api/routes.js";
import { stopwatch } from "../../library/real-time.js";
import { controlPath } from "../../node/addresses.js";
import { SandboxError } from "../../rules/errors.js";
import { failures } from "../../rules/fault-effects.js";
import { outcomeOf, type PathId } from "../../rules/outcomes.js";
import { redactPath } from "../../rules/redact.js";
import type { ApiRequest } from "../../rules/request.js";
import type { ApiResponse, Delivery, Exchange } from "../../sandbox/journal/exchange.js";
import type { Excess } from "../../store/account.js";
import { endedInstance, type Instance } from "../../store/instances.js";
import type { SandboxPlace } from "../../store/store.js";
import {
  type AnyServer,
  followConnections,
  longestHalfOpen,
  rejectInTurn,
  startInTurn,
} from "./connections.js";
import {
  isControlPath,
  isPagePath,
  keepAliveTimeout,
  queryOf,
  readContent,
  readRequest,
  reject,
  rejectExcess,
  sendError,
  sendFaulty,
  sendResponse,
} from "./messages.js";
import { isOwners, latencyBounds, type Server, type Traffic, tokenIn } from "./server-state.js";
import type { CertificatePair } from "./tls.js";

const arrivedAt = Symbol("arrived at");
type TimedResponse = ServerResponse & { [arrivedAt]: number };

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const http = process.getBuiltinModule("node:http");

export type ServerCertificate = CertificatePair & Pick<TlsOptions, "SNICallback">;

export interface HttpServer {
  readonly server: AnyServer;
  /** Its open connections. */
  readonly open: ReadonlySet<Socket>;
}

/** Every request gets a response, and none ends the process. */
export function createHttpServer(state: Server, certificate?: ServerCertificate): HttpServer {
  const listener = (_request: IncomingMessage, response: ServerResponse) => receive(state, response);
  const server =
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
    rejectInTurn(socket);
  });
  const broken = new WeakSet<Duplex>();
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    // A client that does not speak TLS, or rejects the certificate, could not read a response.
    if (code === "ECONNRESET" || /^ERR_(?:SSL|TLS)_/.test(code)) return socket.destroy();
    // Each further chunk after an invalid request causes another error.
    if (broken.has(socket)) return;
    broken.add(socket);
    rejectInTurn(socket, code);
  });
  return { server, open: followConnections(server) };
}

function receive(state: Server, response: ServerResponse) {
  if (state.draining.signal.aborted) response.shouldKeepAlive = false;
  (response as TimedResponse)[arrivedAt] = stopwatch();
  startInTurn(response, () => {
    try {
      serve(state, response);
    } catch (error) {
      fail(state, error, response);
    }
  });
}

function serve(state: Server, response: ServerResponse) {
  const { store } = state;
  const read = readRequest(response.req, response);
  if (read === undefined) return reject(response, 400);
  const own = { sandbox: store.sandbox, instance: undefined };
  const place = placeOf(read.path);
  if (place === undefined) return serveTarget(state, own, read, response);
  // An open page that looks for news is not a use.
  const watched = place.path === revisionPath ? store.instances.find(place.id) : undefined;
  const enter = () => watched ?? store.enter(place.id);
  whenDone(state, enter, response, (entered) => {
    const hasNone = entered === undefined || "ended" in entered;
    if (hasNone && state.control !== undefined && isPagePath(place.path)) {
      // The page shows people why it has no sandbox.
      response.req.url = place.path;
      state.control(response.req, response, { ...own, instance: place.id });
    } else if (entered === undefined) {
      const account = state.accounts.ofSender(response.req.socket.remoteAddress);
      if (isAccepted(state, account.excess(), response))
        account.measure(() => serveTarget(state, own, read, response));
    } else if ("ended" in entered) fail(state, endedInstance(entered), response);
    else serveInstance(state, entered, { ...read, path: place.path }, response);
  });
}

function serveInstance(state: Server, instance: Instance, read: ApiRequest, response: ServerResponse) {
  const { id, sandbox } = instance;
  const { req: request } = response;
  const { accounts } = state;
  const isControl = isControlPath(read.path);
  const account = accounts.of(sandbox);
  // Clients above their rate can still look at their requests. The owner can always.
  const excess = account.excess(isControl ? undefined : instance.tenancy.requestsPerMinute);
  if (!(isControl && isOwners(state, tokenIn(request))) && !isAccepted(state, excess, response)) return;
  const ofSender = isControl ? undefined : accounts.excessOf(request.socket.remoteAddress);
  const isRecognized = () => sandbox.registry.find(sandbox.platform.sha256(read.apiKey ?? "")) !== undefined;
  if (ofSender !== undefined && !isRecognized()) return void isAccepted(state, ofSender, response);
  // Paths inside an instance start after its id.
  request.url = read.path + queryOf(request.url ?? "");
  serveTarget(state, { sandbox, instance: id }, read, response);
}

const revisionPath = `${controlPath}/revision`;

/** Rejects a request with which a limit would be exceeded. */
function isAccepted({ traffic }: Server, excess: Excess | undefined, response: ServerResponse): boolean {
  if (excess === undefined) return true;
  traffic.excess += 1;
  rejectExcess(excess, response);
  return false;
}

function serveTarget(state: Server, target: SandboxPlace, read: ApiRequest, response: ServerResponse) {
  const { control } = state;
  const { req: request } = response;
  if (control !== undefined && isControlPath(read.path)) return control(request, response, target);
  const sandbox = target.sandbox;
  const input = inputAt(sandbox, read.method, read.path);
  if (input === undefined) return respond(state, target, read, response);
  readContent(request, input.body !== undefined, (content) =>
    respond(state, target, { ...read, content }, response),
  );
}

function respond(state: Server, target: SandboxPlace, read: ApiRequest, response: ServerResponse) {
  const { store, accounts } = state;
  if (target.instance === undefined) {
    const start = () => store.request(read, target);
    return whenDone(state, start, response, (exchange) => send(state, target, exchange, response));
  }
  // Without the time until it is stored.
  let ms = 0;
  const timed = <Result>(work: () => Result): Result => {
    const started = stopwatch();
    const result = work();
    ms += stopwatch() - started;
    return result;
  };
  const start = () => timed(() => store.request(read, target));
  whenDone(state, start, response, (exchange) => {
    timed(() => send(state, target, exchange, response));
    const isRecognized = exchange.key !== null;
    const { socket } = response.req;
    const account = isRecognized ? accounts.of(target.sandbox) : accounts.ofSender(socket.remoteAddress);
    account.count(isRecognized, ms);
    if (socket.writableLength > 0) account.hold(response, exchange.response.body.length);
  });
}

// A promise would delay the responses of a sandbox in memory.
function whenDone<Result>(
  state: Server,
  start: () => Result | Promise<Result>,
  response: ServerResponse,
  then: (result: Result) => void,
) {
  try {
    const result = start();
    if (result instanceof Promise) result.then(then).catch((error) => fail(state, error, response));
    else then(result);
  } catch (error) {
    fail(state, error, response);
  }
}

function send(state: Server, target: SandboxPlace, exchange: Exchange, response: ServerResponse) {
  const { traffic, explain, store, control } = state;
  const { pathId, delivery, at, date = at } = exchange;
  const isLost = control !== undefined && pathId === "404.unknown_path" && isFirstPage(exchange, response);
  const message = isLost ? toDashboard(state.baseUrlFor(response.req), target) : exchange.response;
  const { status } = message;
  const dated = dateOf(date);
  const more = explain ? [...dated, "X-Sandbox-Path", pathId] : dated;
  const arrived = (response as TimedResponse)[arrivedAt];
  if (delivery === undefined) {
    sendResponse(message, more, response);
    count(traffic, pathId, status, stopwatch() - arrived);
    return;
  }
  // Includes the fault's delay, or the time until the client gives up.
  response.once("close", () => count(traffic, pathId, status, stopwatch() - arrived));
  // A client that gives up does not see the response that the report counts as covered. For other faults, giving up is right.
  if (onlyWaits(delivery)) {
    response.once("close", () => response.writableFinished || store.countUnread(target, exchange.id));
  }
  sendFaulty(delivery, { ...message, headers: [...message.headers, ...more] }, response);
}

function fail({ traffic, audit, onDefect }: Server, error: unknown, response: ServerResponse) {
  const {
    code,
    message = "",
    details,
  } = error instanceof SandboxError ? error : ({} as Partial<SandboxError>);
  if (code === "store_unavailable" || code === "state_unwritable") {
    traffic.unstored += 1;
    const { method, url = "" } = response.req;
    const action = `${method} ${redactPath(url.split("?", 1)[0] as string)}`;
    audit({ action, actor: "client", result: `503 ${code}`, detail: message });
    return sendError(response, 503, errorBody(failures[503].code, failures[503].message));
  }
  // The log has shown it at the start.
  if (code === "state_unreadable") return sendError(response, 500, errorBody("internal_error", message));
  if (code === "instance_ended") return sendError(response, 404, errorBody("not_found", message, details));
  onDefect(error);
  reject(response, 500);
}

function count(traffic: Traffic, pathId: PathId, status: number, ms: number): void {
  const { paths, latencies } = traffic;
  const statuses = paths.get(pathId) ?? new Map<number, number>();
  if (statuses.size === 0) paths.set(pathId, statuses);
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  traffic.totalMs += ms;
  let bucket = 0;
  while (bucket < latencyBounds.length && ms > (latencyBounds[bucket] as number)) bucket += 1;
  latencies[bucket] = (latencies[bucket] as number) + 1;
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
function isFirstPage({ path, method }: Exchange, { req }: ServerResponse): boolean {
  return path === "/" && method === "GET" && req.headers.accept?.includes("text/html") === true;
}

function toDashboard(baseUrl: string, { instance }: SandboxPlace): ApiResponse {
  const base = instance === undefined ? baseUrl : baseUrl + instancesPath + instance;
  const { status, code, message } = outcomeOf("404.unknown_path");
  return responseOf(status, errorBody(`${code}`, `${message}`, { dashboard: `${base + controlPath}/` }), []);
}

const instancesPath = "/i/";

function placeOf(path: string): { readonly id: string; readonly path: string } | undefined {
  if (!path.startsWith(instancesPath)) return undefined;
  const end = path.indexOf("/", instancesPath.length);
  const id = end === -1 ? path.slice(instancesPath.length) : path.slice(instancesPath.length, end);
  return { id, path: end === -1 ? "/" : path.slice(end) };
}

function onlyWaits({ kind, cutAfter }: Delivery): boolean {
  return kind === "send" && cutAfter === undefined;
}
