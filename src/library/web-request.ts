import { bodyParts } from "../api/body-parts.js";
import { handle } from "../api/handle.js";
import { headerPairs, reasonPhrases } from "../api/http-messages.js";
import { failures } from "../rules/fault-effects.js";
import { readApiRequest } from "../rules/read-request.js";
import type { Received } from "../rules/request.js";
import type { RequestTrait } from "../rules/request-traits.js";
import type { ApiResponse, Delivery } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { endTimeout, startTimeout } from "./real-time.js";

/** The time that Node's own `fetch` waits for a response, in milliseconds. */
const longestFetch = 300_000;
/** The time that a possible client of `node:http` is taken to wait: msw 2 does not show when it gives up. */
const longestUnknown = 10_000;

/** The reason phrases of HTTP, as Node's server sends them; browsers have no such list. */
const statusTexts: Readonly<Record<number, string>> = {
  ...reasonPhrases,
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  ...Object.fromEntries(Object.entries(failures).map(([status, { reason }]) => [status, reason])),
};

/** The requests whose responses are late. A signal reaches a derived request only while that request is referenced, and awaiting does not reference it. */
const awaitedRequests = new Set<object>();

/** Responds to a web `Request`: synchronously, unless the response is late, broken or left out. `base`: the path of the base URL, without a slash at its end. */
export function respondToWebRequest(
  sandbox: () => SandboxState,
  request: Request,
  base = "",
): Response | Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const path = pathname.startsWith(base) ? pathname.slice(base.length) || "/" : pathname;
  const apiRequest = readApiRequest(receivedWeb(request, path, search));

  const exchange = handle(sandbox(), apiRequest);
  const response = withDate(exchange.response, exchange.date ?? exchange.at);
  if (exchange.delivery === undefined) return toResponse(response, request.method);
  return deliverOverWeb(exchange.delivery, response, request);
}

/** Reads a web `Request`, whose path and query are known. */
function receivedWeb(request: Request, path: string, query: string): Received {
  const { method, body, referrer } = request;
  const headers: string[] = [];
  request.headers.forEach((value, name) => void headers.push(name, value));
  // A service worker sees the referring page instead of the headers that only browsers send.
  const traits: RequestTrait[] = referrer?.startsWith("http") ? ["browser header", "from page"] : [];
  // A request from a network has a length; fetch leaves the length to the network.
  if (body !== null && body !== undefined && !request.headers.has("content-length")) traits.push("body");
  return { method, path, query, headers, traits };
}

/** Adds the header `Date` to a response with another date, which clients compare with it. A network always sends it. */
function withDate(response: ApiResponse, date: number): ApiResponse {
  const hasDate = response.headers.some((value) => value.endsWith(" GMT"));
  if (!hasDate) return response;
  return { ...response, headers: [...response.headers, "Date", new Date(date).toUTCString()] };
}

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

/** Delivers a response as a fault does: late, broken or not at all. Rejects with the reason of the request's signal if that is aborted before the response. */
async function deliverOverWeb(
  delivery: Delivery,
  response: ApiResponse,
  request: Request,
): Promise<Response> {
  const { delayMs, kind } = delivery;
  if (kind === "hang") return waitForAbort(request);
  if (delayMs > 0) await pauseUnlessAborted(delayMs, request.signal);
  switch (kind) {
    case "reset":
      if (isInMiddleware(request)) throw new TypeError("A fault of the scenario resets the connection.");
      return Response.error();
    case "send":
      return slowOrCutResponse(delivery, response, request);
    default:
      return kind satisfies never;
  }
}

/** Waits until the client gives up. Keeps the process alive, like a waiting socket: clients' timers, such as `AbortSignal.timeout`, do not. */
async function waitForAbort({ signal, headers }: Request): Promise<never> {
  // `fetch` sets no `Host`.
  const longest = headers.has("host") ? longestUnknown : longestFetch;
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
function slowOrCutResponse(delivery: Delivery, response: ApiResponse, request: Request): Response {
  const { method } = request;
  const isCut = delivery.cutAfter !== undefined;
  const isWhole = !isCut && delivery.bytesPerSecond === undefined;
  if (isWhole || method === "HEAD") return toResponse(response, method);

  // There, an error would end the server: the connection ends before the announced length instead.
  if (isCut && isInMiddleware(request)) {
    const headers = [...response.headers, "Connection", "close"];
    const body = bodyStream(response.body, delivery, request, false);
    return toResponse({ ...response, headers }, method, body);
  }
  return toResponse(response, method, bodyStream(response.body, delivery, request, isCut));
}

/** A body in parts with pauses before them. `endsWithError`: as a connection that breaks off. */
function bodyStream(
  body: string,
  delivery: Delivery,
  request: Request,
  endsWithError: boolean,
): ReadableStream<Uint8Array> {
  const { parts, pauseMs } = bodyParts(body, delivery);
  let next = 0;

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        // References the request, because only then its signal follows the client's.
        if (pauseMs > 0) await pauseUnlessAborted(pauseMs, request.signal);
        const part = parts[next];
        if (part !== undefined) controller.enqueue(part);
        else if (endsWithError) controller.error(new TypeError("terminated"));
        next += 1;
        if (!endsWithError && next >= parts.length) controller.close();
      },
    },
    // Starts only when read, so that an unread body leaves no timer.
    { highWaterMark: 0 },
  );
}

/**
 * Whether a request comes from `@mswjs/http-middleware`, which serves msw's handlers from a user's own server: a network error
 * would end that server. Only the middleware sends a `Host` and omits credentials.
 */
function isInMiddleware({ credentials, headers }: Request): boolean {
  return credentials === "omit" && headers.has("host");
}

/** Reads and drops a body, which no endpoint reads: in the middleware, its connection would wait for that forever. */
export function discardBody(request: Request): void {
  if (isInMiddleware(request)) request.body?.pipeTo(new WritableStream()).catch(() => {});
}

/** Responds as `fetch` does, which a client calls with these arguments. */
export async function fetchResponse(
  sandbox: () => SandboxState,
  input: Request | URL | string,
  init: RequestInit | undefined,
): Promise<Response> {
  const request = requestOf(input, init);
  request.signal.throwIfAborted();
  const result = respondToWebRequest(sandbox, request);
  if ("status" in result) return withUrl(result, request);

  // A fault delays or breaks it.
  const awaited = { input, request };
  const canBeAborted = init?.signal !== undefined || input instanceof Request;
  if (canBeAborted) awaitedRequests.add(awaited);
  try {
    const response = await result;
    if (response.type === "error") throw new TypeError("fetch failed", { cause: connectionReset() });
    return withUrl(response, request);
  } finally {
    awaitedRequests.delete(awaited);
  }
}

/** The request of a call of `fetch`. One without a body needs no copy, which would take as long as the response. */
function requestOf(input: Request | URL | string, init: RequestInit | undefined): Request {
  const isItself = init === undefined && input instanceof Request && input.body === null;
  return isItself ? input : new Request(input, init);
}

/** Sets the URL of a response, which one from the network has and a constructed one does not. */
function withUrl(response: Response, request: Request): Response {
  const [url] = request.url.split("#");
  const clone = () => withUrl(Response.prototype.clone.call(response), request);
  return Object.defineProperties(response, { url: { value: url }, clone: { value: clone } });
}

/** The cause of an error of `fetch` for a connection that was reset. */
function connectionReset(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
}
