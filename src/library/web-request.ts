import { handle } from "../api/handle.js";
import { bodyParts, headerPairs, reasonPhrases } from "../api/http-messages.js";
import { readApiRequest } from "../api/read-request.js";
import { failures } from "../rules/fault-effects.js";
import type { RawRequest, RequestTraits } from "../rules/request.js";
import type { ApiResponse, Delivery } from "../sandbox/call.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { endTimeout, startTimeout } from "./web-platform.js";

/** Who sends a request: `fetch`, a client of `node:http` that msw intercepts, or `@mswjs/http-middleware`, which serves msw's handlers. */
type WebClient = "fetch" | "node_http" | "middleware";

/**
 * Responds to a web `Request`: synchronously, unless the response is late, broken or left out. `base`: the path of the base URL,
 * without a slash at its end.
 */
export function respondToWebRequest(
  getOrStart: () => SandboxState,
  request: Request,
  client: WebClient,
  base = "",
): Response | Promise<Response> {
  const { body } = request;
  // No endpoint reads a body: in the middleware, its connection would wait for that forever.
  if (body && client === "middleware") body.pipeTo(new WritableStream()).catch(() => {});

  const { pathname, search } = new URL(request.url);
  const path = pathname.startsWith(base) ? pathname.slice(base.length) || "/" : pathname;
  const apiRequest = readApiRequest(receivedWeb(request, path, search));

  const exchange = handle(getOrStart(), apiRequest);
  let { response } = exchange;
  // A network always sends `Date`. Here, only a response with another date has it, such as that of `Retry-After`: clients compare them.
  if (response.headers.some((text) => text.endsWith(" GMT"))) {
    const date = new Date(exchange.date ?? exchange.at).toUTCString();
    response = { ...response, headers: [...response.headers, "Date", date] };
  }
  if (exchange.delivery === undefined) return toResponse(response, request.method);
  return deliverOverWeb(exchange.delivery, response, request, client);
}

/** Reads a web `Request`, whose path and query are known. */
function receivedWeb(request: Request, path: string, query: string): RawRequest {
  const { method, body, referrer } = request;
  const headers: string[] = [];
  request.headers.forEach((value, name) => void headers.push(name, value));
  // A service worker sees the referring page instead of the headers that only browsers send.
  const traits: RequestTraits[number][] = referrer?.startsWith("http") ? ["browser header", "from page"] : [];
  // A request from a network has a length; fetch leaves the length to the network.
  if (body !== null && body !== undefined && !request.headers.has("content-length")) traits.push("body");
  return { method, path, query, headers, traits };
}

/** Responds as `fetch` does, which a client calls with these arguments. */
export async function fetchResponse(
  currentSandbox: () => SandboxState,
  input: Request | URL | string,
  init: RequestInit | undefined,
): Promise<Response> {
  // A request without a body needs no copy, which would take as long as the response.
  const isItself = init === undefined && input instanceof Request && input.body === null;
  const request = isItself ? input : new Request(input, init);
  request.signal.throwIfAborted();
  const result = respondToWebRequest(currentSandbox, request, "fetch");
  if (result instanceof Response) return withUrl(result, request);

  // A fault delays or breaks the response.
  const canBeAborted = init?.signal !== undefined || input instanceof Request;
  const response = canBeAborted ? await whileKept({ input, request }, result) : await result;
  if (response.type === "error") {
    const reset = { code: "ECONNRESET", syscall: "read" };
    throw new TypeError("fetch failed", { cause: Object.assign(new Error("read ECONNRESET"), reset) });
  }
  return withUrl(response, request);
}

/** What the garbage collector must not collect: awaiting a response does not reference its request. */
const requestsInUse = new Set<object>();

/**
 * Awaits a response, and until then keeps its request and what the client made it of: the client's signal does not reach a request
 * that is collected, so that the client could not abort the response.
 */
async function whileKept(requests: object, result: Promise<Response>): Promise<Response> {
  requestsInUse.add(requests);
  try {
    return await result;
  } finally {
    requestsInUse.delete(requests);
  }
}

/** Sets the URL of a response, which one from the network has and a constructed one does not. */
function withUrl(response: Response, request: Request): Response {
  const [url] = request.url.split("#");
  const clone = () => withUrl(Response.prototype.clone.call(response), request);
  return Object.defineProperties(response, { url: { value: url }, clone: { value: clone } });
}

/** The time that Node's own `fetch` waits for a response, in milliseconds. */
const longestFetch = 300_000;
/** The time that a possible client of `node:http` is taken to wait: msw 2 does not show when it gives up. */
const longestUnknown = 10_000;

/** Delivers a response as a fault does: late, broken or not at all. Rejects with the reason of the request's signal if that is aborted before the response. */
async function deliverOverWeb(
  delivery: Delivery,
  response: ApiResponse,
  request: Request,
  client: WebClient,
): Promise<Response> {
  const { latencyMs, kind } = delivery;
  if (kind === "hang") return waitForAbort(request, client);
  if (latencyMs > 0) await pauseUnlessAborted(latencyMs, request.signal);
  switch (kind) {
    case "reset":
      // A network error of msw would end the middleware's server.
      if (client === "middleware") {
        throw new TypeError("A fault of the scenario resets the connection.");
      }
      return Response.error();
    case "send":
      return slowOrCutResponse(delivery, response, request, client);
    default:
      return kind satisfies never;
  }
}

/** Waits until the client gives up. Keeps the process alive, like a waiting socket: clients' timers, such as `AbortSignal.timeout`, do not. */
async function waitForAbort({ signal }: Request, client: WebClient): Promise<never> {
  const longest = client === "fetch" ? longestFetch : longestUnknown;
  await pauseUnlessAborted(longest, signal);
  // A client that waits longer does not keep the process alive.
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

/** Resolves after a time; rejects with the reason of the signal once that is aborted. */
function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }

    const abort = () => {
      endTimeout(timer);
      reject(signal.reason);
    };
    const done = () => {
      signal.removeEventListener("abort", abort);
      resolve();
    };

    const timer = startTimeout(done, ms);
    signal.addEventListener("abort", abort, { once: true });
  });
}

/** A response whose body may be slow or break off. */
function slowOrCutResponse(
  delivery: Delivery,
  response: ApiResponse,
  request: Request,
  client: WebClient,
): Response {
  const { method } = request;
  const isCut = delivery.cutAfter !== undefined;
  const isSlow = delivery.bytesPerSecond !== undefined;
  const hasUsualBody = (!isCut && !isSlow) || method === "HEAD";
  if (hasUsualBody) return toResponse(response, method);
  if (!isCut) return toResponse(response, method, bodyStream(response.body, delivery, request, "complete"));

  // An error would end the middleware's server: the connection ends before the announced length instead.
  if (client === "middleware") {
    const headers = [...response.headers, "Connection", "close"];
    const body = bodyStream(response.body, delivery, request, "complete");
    return toResponse({ ...response, headers }, method, body);
  }
  return toResponse(response, method, bodyStream(response.body, delivery, request, "broken"));
}

/** A body in parts with a pause before each. `end`: after the last part, or `broken` after one more pause, as by a connection that breaks off. */
function bodyStream(
  body: string,
  delivery: Delivery,
  request: Request,
  end: "complete" | "broken",
): ReadableStream<Uint8Array> {
  const { parts, pauseMs } = bodyParts(body, delivery);
  let next = 0;

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // References the request, because only then its signal follows the client's.
        if (pauseMs > 0) await pauseUnlessAborted(pauseMs, request.signal);
        const part = parts[next];
        next += 1;
        if (end === "broken" && part === undefined) {
          controller.error(new TypeError("terminated"));
          return;
        }

        // A body without bytes has no part.
        if (part !== undefined) controller.enqueue(part);
        const wasLast = next >= parts.length;
        if (end === "complete" && wasLast) controller.close();
      },
    },
    // Starts only when read, so that an unread body leaves no timer.
    { highWaterMark: 0 },
  );
}

/** The reason phrases of HTTP, as Node's server sends them; browsers have no such list. */
const statusTexts: Readonly<Record<number, string>> = {
  ...reasonPhrases,
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  ...Object.fromEntries(Object.entries(failures).map(([status, { reason }]) => [status, reason])),
};

/** A web `Response`; `body` in place of its own one. */
function toResponse(
  response: ApiResponse,
  method: string,
  body: string | ReadableStream<Uint8Array> = response.body,
): Response {
  const { status } = response;
  const statusText = statusTexts[status] ?? "";
  const headers = headerPairs(response.headers);
  // The platform gives any text a media type, also an empty one.
  const isEmpty = method === "HEAD" || response.body === "";
  return new Response(isEmpty ? null : (body as BodyInit), { status, statusText, headers });
}

/** Who sends a request to msw's handlers, as far as the request shows it. */
export function clientOfMsw({ headers, credentials }: Request): WebClient {
  // `fetch` sets no `Host`. Of the others, only the middleware omits credentials.
  if (!headers.has("host")) return "fetch";
  return credentials === "omit" ? "middleware" : "node_http";
}
