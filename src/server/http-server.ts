import type { IncomingMessage, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TlsOptions } from "node:tls";
import { answerOf } from "../api/answer.js";
import { routeOf } from "../api/changes.js";
import { onlyWaits } from "../api/faults.js";
import { errorBody } from "../api/messages.js";
import { inputAt } from "../api/routes.js";
import { SandboxError } from "../domain/errors.js";
import { outcomeOf } from "../domain/outcomes.js";
import type { AnswerDelivery, ApiAnswer, ApiRequest, Exchange } from "../history/exchange.js";
import { stopwatch } from "../library/real-time.js";
import type { Instance } from "../log/instances.js";
import type { Log, Place } from "../log/log.js";
import { controlPath } from "../node/addresses.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import type { World } from "../world/world.js";
import {
  type AnyServer,
  type Connection,
  followConnections,
  lastAnswer,
  queueAnswer,
  refuseInTurn,
} from "./connections.js";
import type { CustomHandlers } from "./custom-handlers.js";
import type { acceptHttp2 } from "./http2.js";
import { createInstanceLimit, rejectExcess } from "./instance-limit.js";
import { isControlPath, queryOf, readContent, readRequest } from "./read-request.js";
import { keepAliveTimeout, refuse, refuseUnstored, sendAnswer, sendFaulty } from "./send-answer.js";
import type { CertificatePair } from "./tls.js";
import type { Traffic } from "./traffic.js";

/** The sandbox that a request or a call is about. */
export interface ControlContext extends Place {
  /** Aborted when the instance is gone or the server stops, which ends endless answers. */
  readonly gone: AbortSignal;
}

/** The page at `/` where partners create instances. */
export interface SelfService {
  /** The names of bundled scenarios that it offers. Default: the server's own scenario. */
  readonly scenarios?: readonly string[] | undefined;
  /** The instances that an address may create in a day. Default: 5. */
  readonly daily?: number | undefined;
  /** The header in which a proxy names a caller, who then needs a name. Default: nobody has one. */
  readonly trustHeader?: string | undefined;
  /** The addresses and networks of proxies that are believed. Default: this machine. */
  readonly trustProxies?: readonly string[] | undefined;
}

const arrivedAt = Symbol("arrived at");

/** An answer that knows when its request arrived, on the stopwatch. */
interface TimedResponse extends ServerResponse {
  [arrivedAt]: number;
}

/** Serves one request to the control plane. */
export type ControlHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: ControlContext,
) => void;

/** The server around the control plane. */
export interface ControlSurroundings {
  /** Whether only this machine can reach the server. */
  readonly loopback: boolean;
  /** The bearer token that every call needs; `undefined` for none. */
  readonly token: string | undefined;
  /** Returns the base URL by which the sender of a request reaches the server. */
  readonly baseUrlFor: (request: IncomingMessage) => string;
  /** The names beside this machine's own by which clients reach the server, some with a port, in lower case. */
  readonly allowedHosts: readonly string[];
  /** Stops the server, and its process where that serves nothing else. */
  readonly stop: () => void;
  readonly log: Log;
  /** The limit of instances that are made without one of their own; `undefined` for none. */
  readonly instanceRate: number | undefined;
  /** Returns the scenario that is served. */
  readonly own: () => NamedScenario;
  /** What the page for partners offers; `undefined` for none. */
  readonly selfService: SelfService | undefined;
  /** When the server was started, on the wall clock (epoch milliseconds). */
  readonly startedAt: number;
  /** Why the server is to be sent no requests now, in a sentence; `undefined` when it is ready for them. */
  readonly unreadiness: () => string | undefined;
  readonly traffic: Traffic;
}

// Importing "node:http" from an ES module costs ten times as much on Node 22 and later.
const http = process.getBuiltinModule("node:http");

export interface HttpServerOptions {
  /** The log of the server's own sandbox and of its instances, which are under `/i/{id}`. */
  readonly log: Log;
  /** Aborted when the server stops. Default: never. */
  readonly gone?: AbortSignal;
  /** Aborted when the server is about to stop: each connection ends after the response that is due. Default: never. */
  readonly draining?: AbortSignal;
  /** Serves the control plane. Default: its paths are unknown paths of the API. */
  readonly control?: ControlHandler | undefined;
  /** Whether the control plane has a page at `/`. Default: false. */
  readonly hasFirstPage?: boolean;
  /** Returns the base URL by which a browser reaches the server and its dashboard. Default: no dashboard. */
  readonly baseUrlFor?: ((request: IncomingMessage) => string) | undefined;
  /** Serves paths that the API does not have. Default: they get 404. */
  readonly customHandlers?: CustomHandlers | undefined;
  /** Whether API answers carry `X-Sandbox-Path`, which the real API does not have. Default: false. */
  readonly explain?: boolean | undefined;
  /** The certificate to serve HTTPS with. Default: HTTP. */
  readonly certificate?: (CertificatePair & Pick<TlsOptions, "SNICallback">) | undefined;
  /** Makes HTTPS speak HTTP/2 too. Default: HTTP/1.1 alone. */
  readonly acceptHttp2?: typeof acceptHttp2 | undefined;
  /** Called with a defect of the sandbox; the client has got a 500 then. */
  readonly onDefect: (error: unknown) => void;
  /** Counts what the API answers. */
  readonly traffic: Traffic;
}

/** A server with the connections that are open; those of HTTPS bare and, once they are, encrypted. */
export interface OpenServer {
  readonly server: AnyServer;
  readonly open: ReadonlySet<Socket>;
}

/**
 * Makes the server; the API's own paths go straight from the core to the socket.
 *
 * Nothing that a client sends ends the process or goes without an answer.
 */
export function createHttpServer(options: HttpServerOptions): OpenServer {
  const { log, gone = new AbortController().signal, control, customHandlers, baseUrlFor } = options;
  const { hasFirstPage = false, certificate, explain = false, onDefect, traffic, draining } = options;
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
    // With what the fault holds back, or until the client gives up.
    response.once("close", () => traffic.count(pathId, status, stopwatch() - arrived));
    if (onlyWaits(delivery)) onUnread(response, () => log.countUnread(context, exchange.id));
    sendFaulty(delivery, { ...answer, headers: [...answer.headers, ...more] }, response);
  };
  const failWith = (error: unknown, response: ServerResponse) => {
    if (error instanceof SandboxError && error.code === "store_unavailable") {
      traffic.countUnstored();
      return refuseUnstored(response);
    }
    onDefect(error);
    refuse(response, 500);
  };
  const answerWith = (context: ControlContext, read: ApiRequest, response: ServerResponse) => {
    const world = context.runtime.world();
    const request =
      world.faults.active.length === 0 ? read : { ...read, delivery: deliveryOf(world, response) };
    const handled = log.request(request, context);
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
    if (hasFirstPage && read.path === "/" && context === outermost && takesPage(request)) {
      return control?.(request, response, context);
    }
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
    const enter = (instance: Instance | undefined) => {
      if (instance === undefined) serveOn(outermost, read, request, response);
      else serveInside(instance, place.path, read, request, response);
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
    // Whoever sends too much can still look at what they have sent.
    const excess = limits[isControlPath(path) ? "control" : "api"](instance);
    if (excess !== undefined) {
      traffic.countExcess();
      return rejectExcess(excess, response);
    }
    const { id, runtime, gone } = instance;
    // Inside the instance the path begins behind its id.
    request.url = path + queryOf(request.url ?? "");
    serveOn({ runtime, gone, instance: id }, { ...read, path }, request, response);
  };
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    (request.socket as Connection)[lastAnswer] = response;
    if (draining?.aborted === true) response.shouldKeepAlive = false;
    if (response.socket === null) queueAnswer(request.socket, response);
    serveTimed(request, response);
  };
  const serveTimed = (request: IncomingMessage, response: ServerResponse) => {
    (response as TimedResponse)[arrivedAt] = stopwatch();
    try {
      serve(request, response);
    } catch (error) {
      failWith(error, response);
    }
  };

  const protocols = options.acceptHttp2 === undefined ? ["http/1.1"] : ["h2", "http/1.1"];
  const server =
    certificate === undefined
      ? http.createServer(serverOptions, listener)
      : process
          .getBuiltinModule("node:https")
          .createServer({ ...serverOptions, ...certificate, ALPNProtocols: protocols }, listener);
  // Node would leave out every header after the first 1,000, and with it a key or the second of two.
  server.maxHeadersCount = 0;
  // An expectation we do not know is no reason to refuse a request that we understand.
  server.on("checkExpectation", listener);
  server.on("connect", (_request, socket) => {
    // Node takes its own listeners off: without this one, a client that resets the connection ends the process.
    socket.on("error", () => socket.destroy());
    refuseInTurn(socket);
  });
  const broken = new WeakSet<Duplex>();
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    // A client that speaks no TLS, or does not trust the certificate, would not understand an answer.
    if (code === "ECONNRESET" || /^ERR_(?:SSL|TLS)_/.test(code)) return socket.destroy();
    // Every further piece of what is no request is an error again.
    if (broken.has(socket)) return;
    broken.add(socket);
    refuseInTurn(socket, code);
  });
  const open = followConnections(server, { encrypted: certificate !== undefined });
  options.acceptHttp2?.(server, customHandlers === undefined ? serveTimed : undefined);
  return { server, open };
}

// The date of the sandbox, whose minutes clients wait for; Node would send that of the machine. Formatted once a second.
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
  // The specification knows no limit: a key of 16 KB is a malformed key, not a malformed request.
  maxHeaderSize: 64 * 1024,
  // Checked by `readRequest`, to answer in the API's error body.
  requireHostHeader: false,
  keepAliveTimeout,
};

// A person who opens the printed base URL; clients of the API do not request HTML.
function isFirstPage({ path, method }: Exchange, { req }: ServerResponse): boolean {
  return path === "/" && method === "GET" && takesPage(req);
}

function takesPage({ headers }: IncomingMessage): boolean {
  return headers.accept?.includes("text/html") === true;
}

function toDashboard(baseUrl: string, { instance }: ControlContext): ApiAnswer {
  const base = instance === undefined ? baseUrl : baseUrl + instancesPath + instance;
  const { status, code, message } = outcomeOf("404.unknown_path");
  return answerOf(status, errorBody(`${code}`, `${message}`, { dashboard: `${base + controlPath}/` }), []);
}

const instancesPath = "/i/";

/** Returns the id of the instance that a path leads into, and the path inside it; `undefined` for any other path. */
function placeOf(path: string): { readonly id: string; readonly path: string } | undefined {
  if (!path.startsWith(instancesPath)) return undefined;
  const end = path.indexOf("/", instancesPath.length);
  const id = end === -1 ? path.slice(instancesPath.length) : path.slice(instancesPath.length, end);
  return { id, path: end === -1 ? "/" : path.slice(end) };
}

// A client that gives up does not see the answer that the report counts as met. To give up on any other fault is right.
function onUnread(response: ServerResponse, count: () => void): void {
  response.once("close", () => {
    if (!response.writableFinished) count();
  });
}

// An answer that a fault delays may find its client gone.
function deliveryOf({ platform }: World, response: ServerResponse): AnswerDelivery {
  const delivery = { at: Number.POSITIVE_INFINITY };
  response.once("finish", () => {
    delivery.at = platform.stopwatch();
  });
  return delivery;
}
