import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { answerOf } from "../../api/answer.js";
import { routeOf } from "../../api/changes.js";
import { onlyWaits } from "../../api/faults.js";
import { errorBody } from "../../api/messages.js";
import { inputAt } from "../../api/routes.js";
import { stopwatch } from "../../library/real-time.js";
import { endedInstance, type Instance } from "../../log/instances.js";
import type { Entered, Log, Place } from "../../log/log.js";
import { controlPath } from "../../node/addresses.js";
import type { ApiAnswer, ApiRequest, Exchange } from "../../sandbox/history/exchange.js";
import type { NamedScenario } from "../../scenario/parse-scenario.js";
import { SandboxError } from "../../spec/errors.js";
import { outcomeOf } from "../../spec/outcomes.js";
import { redactPath } from "../../spec/redact.js";
import {
  type AnyServer,
  type Connection,
  followConnections,
  lastAnswer,
  queueAnswer,
  refuseInTurn,
} from "./connections.js";
import type { CustomHandlers } from "./handlers.js";
import { createInstanceLimit, rejectExcess } from "./instance-limit.js";
import {
  isControlPath,
  keepAliveTimeout,
  queryOf,
  readContent,
  readRequest,
  refuse,
  refuseEnded,
  refuseUnstored,
  sendAnswer,
  sendFaulty,
} from "./messages.js";
import type { CertificatePair } from "./tls.js";
import type { Traffic } from "./traffic.js";

/** The sandbox that a request or a call is for. */
export interface ControlContext extends Place {
  /** Aborted when the instance is removed or the server stops, which ends endless responses. */
  readonly gone: AbortSignal;
}

const arrivedAt = Symbol("arrived at");

/** A response with the arrival of its request, on the stopwatch. */
interface TimedResponse extends ServerResponse {
  [arrivedAt]: number;
}

/** Serves one request to the control plane. */
export type ControlHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: ControlContext,
) => void;

/** The server, as the control plane sees it. */
export interface ControlSurroundings {
  /** Whether only this machine can reach the server. */
  readonly loopback: boolean;
  /** The bearer token that calls require; `undefined` for none. */
  readonly token: string | undefined;
  /** Returns the server's base URL for the sender of a request. */
  readonly baseUrlFor: (request: IncomingMessage) => string;
  /** The server's names besides this machine's own, in lower case, some with a port. */
  readonly allowedHosts: readonly string[];
  /** Stops the server, and its process if that serves nothing else. */
  readonly stop: () => void;
  readonly log: Log;
  /** Requests per minute for instances created without a limit; `undefined`: no limit. */
  readonly instanceRate: number | undefined;
  /** Returns the server's scenario. */
  readonly own: () => NamedScenario;
  /** When the server started, on the wall clock (epoch milliseconds). */
  readonly startedAt: number;
  /** Why the server is not ready for requests, as a sentence; `undefined` if it is ready. */
  readonly unreadiness: () => string | undefined;
  readonly traffic: Traffic;
  /** Records who created, claimed and removed instances, and requests that could not be stored. */
  readonly audit: (message: string) => void;
}

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const http = process.getBuiltinModule("node:http");

export interface HttpServerOptions {
  /** The log of the server's own sandbox and its instances under `/i/{id}`. */
  readonly log: Log;
  /** Aborted when the server stops. Default: never. */
  readonly gone?: AbortSignal;
  /** Aborted when the server is about to stop: each connection ends after its next response. Default: never. */
  readonly draining?: AbortSignal;
  /** Serves the control plane. Default: its paths are unknown paths of the API. */
  readonly control?: ControlHandler | undefined;
  /** Returns the server's base URL for a browser, to link to the dashboard. Default: no link. */
  readonly baseUrlFor?: ((request: IncomingMessage) => string) | undefined;
  /** Serves paths that the API does not have. Default: they get 404. */
  readonly customHandlers?: CustomHandlers | undefined;
  /** Whether API responses have `X-Sandbox-Path`, which the real API does not. Default: false. */
  readonly explain?: boolean | undefined;
  /** The certificate for HTTPS. Default: HTTP. */
  readonly certificate?: (CertificatePair & Pick<TlsOptions, "SNICallback">) | undefined;
  /** Called with a defect of the sandbox; the client got a 500. */
  readonly onDefect: (error: unknown) => void;
  /** Counts the API's responses. */
  readonly traffic: Traffic;
  /** Called with each request that could not be stored. Default: ignored. */
  readonly audit?: (message: string) => void;
}

/** A server with its open connections; with HTTPS, both the bare and the encrypted ones. */
export interface OpenServer {
  readonly server: AnyServer;
  readonly open: ReadonlySet<Socket>;
}

/**
 * Makes the server. Responses of the API go straight from the core to the socket.
 *
 * Every request gets a response, and none ends the process.
 */
export function createHttpServer(options: HttpServerOptions): OpenServer {
  const { log, gone = new AbortController().signal, control, customHandlers, baseUrlFor } = options;
  const { certificate, explain = false, onDefect, traffic, draining, audit = () => {} } = options;
  const outermost: ControlContext = { runtime: log.runtime, instance: undefined, gone };

  const dateOf = createDate();
  const send = (exchange: Exchange, context: ControlContext, response: ServerResponse) => {
    const { pathId, delivery, at } = exchange;
    const isLost = pathId === "404.unknown_path" && isFirstPage(exchange, response);
    const answer = baseUrlFor && isLost ? toDashboard(baseUrlFor(response.req), context) : exchange.answer;
    const { status } = answer;
    const date = dateOf(at);
    const more = explain ? [...date, "X-Sandbox-Path", pathId] : date;
    const arrived = (response as TimedResponse)[arrivedAt];
    if (delivery === undefined) {
      sendAnswer(answer, more, response);
      traffic.count(pathId, status, stopwatch() - arrived);
      return;
    }
    // Includes the fault's delay, or the time until the client gives up.
    response.once("close", () => traffic.count(pathId, status, stopwatch() - arrived));
    if (onlyWaits(delivery)) onUnread(response, () => log.countUnread(context, exchange.id));
    sendFaulty(delivery, { ...answer, headers: [...answer.headers, ...more] }, response);
  };
  const failWith = (error: unknown, response: ServerResponse) => {
    if (error instanceof SandboxError && error.code === "store_unavailable") {
      traffic.countUnstored();
      const { method, url = "" } = response.req;
      audit(`503 for ${method} ${redactPath(url.split("?", 1)[0] as string)}: ${error.message}`);
      return refuseUnstored(response);
    }
    if (error instanceof SandboxError && error.code === "instance_ended") {
      return refuseEnded(response, error.message);
    }
    onDefect(error);
    refuse(response, 500);
  };
  const answerWith = (context: ControlContext, read: ApiRequest, response: ServerResponse) => {
    const handled = log.request(read, context);
    if (handled instanceof Promise) {
      handled.then((one) => send(one, context, response)).catch((error) => failWith(error, response));
    } else send(handled, context, response);
  };
  const answerLater = (context: ControlContext, read: ApiRequest, response: ServerResponse) => {
    try {
      answerWith(context, read, response);
    } catch (error) {
      failWith(error, response);
    }
  };
  const serveOn = (
    context: ControlContext,
    read: ApiRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ) => {
    if (control !== undefined && isControlPath(read.path)) return control(request, response, context);
    const world = context.runtime.world();
    if (customHandlers !== undefined && routeOf(world, read.path) === undefined) {
      const fallback = () => answerLater(context, read, response);
      return customHandlers(context.runtime, request, response, fallback);
    }
    const input = inputAt(log.mayPreview(world), read.method, read.path);
    if (input === undefined) return answerWith(context, read, response);
    readContent(request, input.body !== undefined, (content) =>
      answerLater(context, { ...read, content }, response),
    );
  };
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const read = readRequest(request, response);
    if (read === undefined) return refuse(response, 400);
    const place = placeOf(read.path);
    if (place === undefined) return serveOn(outermost, read, request, response);
    const enter = (entered: Entered) => {
      if (entered === undefined) serveOn(outermost, read, request, response);
      else if ("ended" in entered) failWith(endedInstance(entered), response);
      else serveInside(entered, place.path, read, request, response);
    };
    const entered = log.enter(place.id);
    if (entered instanceof Promise) entered.then(enter).catch((error) => failWith(error, response));
    else enter(entered);
  };
  const limits = { api: createInstanceLimit(), control: createInstanceLimit() };
  const serveInside = (
    instance: Instance,
    path: string,
    read: ApiRequest,
    request: IncomingMessage,
    response: ServerResponse,
  ) => {
    // Clients above the limit can still look at their requests: the control plane has its own limit.
    const excess = limits[isControlPath(path) ? "control" : "api"](instance);
    if (excess !== undefined) {
      traffic.countExcess();
      return rejectExcess(excess, response);
    }
    const { id, runtime, gone } = instance;
    // Paths inside an instance start after its id.
    request.url = path + queryOf(request.url ?? "");
    serveOn({ runtime, gone, instance: id }, { ...read, path }, request, response);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    (request.socket as Connection)[lastAnswer] = response;
    if (draining?.aborted === true) response.shouldKeepAlive = false;
    if (response.socket === null) queueAnswer(request.socket, response);
    (response as TimedResponse)[arrivedAt] = stopwatch();
    try {
      serve(request, response);
    } catch (error) {
      failWith(error, response);
    }
  };

  const server =
    certificate === undefined
      ? http.createServer(serverOptions, listener)
      : process
          .getBuiltinModule("node:https")
          .createServer({ ...serverOptions, ...certificate, ALPNProtocols: ["http/1.1"] }, listener);
  // Node would drop all headers after the first 1,000, among them a key or the second of two keys.
  server.maxHeadersCount = 0;
  // An unknown expectation is not a reason to reject a valid request.
  server.on("checkExpectation", listener);
  server.on("connect", (_request, socket) => {
    // Node removes its own listeners. Without this one, a client that resets the connection would end the process.
    socket.on("error", () => socket.destroy());
    refuseInTurn(socket);
  });
  const broken = new WeakSet<Duplex>();
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    // A client that does not speak TLS, or rejects the certificate, could not read a response.
    if (code === "ECONNRESET" || /^ERR_(?:SSL|TLS)_/.test(code)) return socket.destroy();
    // Each further chunk after an invalid request causes another error.
    if (broken.has(socket)) return;
    broken.add(socket);
    refuseInTurn(socket, code);
  });
  const open = followConnections(server, { encrypted: certificate !== undefined });
  return { server, open };
}

// The date of the sandbox, because clients wait for its minutes; Node would send the machine's. Formatted once a second.
function createDate(): (at: number) => readonly string[] {
  let second = Number.NaN;
  let header: readonly string[] = [];
  return (at) => {
    const now = Math.floor(at / 1000);
    if (now !== second) {
      second = now;
      header = ["Date", new Date(now * 1000).toUTCString()];
    }
    return header;
  };
}

const serverOptions: ServerOptions = {
  // The specification has no limit: a key of 16 KB is a malformed key, not a malformed request.
  maxHeaderSize: 64 * 1024,
  // `readRequest` checks it, so that the response has the API's error body.
  requireHostHeader: false,
  keepAliveTimeout,
};

// People open the printed base URL; clients of the API do not request HTML.
function isFirstPage({ path, method }: Exchange, { req }: ServerResponse): boolean {
  return path === "/" && method === "GET" && req.headers.accept?.includes("text/html") === true;
}

function toDashboard(baseUrl: string, { instance }: ControlContext): ApiAnswer {
  const base = instance === undefined ? baseUrl : baseUrl + instancesPath + instance;
  const { status, code, message } = outcomeOf("404.unknown_path");
  return answerOf(status, errorBody(`${code}`, `${message}`, { dashboard: `${base + controlPath}/` }), []);
}

const instancesPath = "/i/";

/** Returns the instance id of a path and the path inside that instance; `undefined` for any other path. */
function placeOf(path: string): { readonly id: string; readonly path: string } | undefined {
  if (!path.startsWith(instancesPath)) return undefined;
  const end = path.indexOf("/", instancesPath.length);
  const id = end === -1 ? path.slice(instancesPath.length) : path.slice(instancesPath.length, end);
  return { id, path: end === -1 ? "/" : path.slice(end) };
}

// A client that gives up does not see the response that the report counts as covered. For other faults, giving up is right.
function onUnread(response: ServerResponse, count: () => void): void {
  response.once("close", () => {
    if (!response.writableFinished) count();
  });
}
