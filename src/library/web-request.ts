import { handle } from "../api/handle.js";
import { readApiRequest } from "../rules/read-request.js";
import type { Received, RequestTraits } from "../rules/request.js";
import type { ApiResponse } from "../sandbox/journal/call-result.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { clientOf, deliverOverWeb, toResponse } from "./web-delivery.js";

/** Responds to a web `Request`: synchronously, unless the response is late, broken or left out. `base`: the path of the base URL, without a slash at its end. */
export function respondToWebRequest(
  getOrStart: () => SandboxState,
  request: Request,
  base = "",
): Response | Promise<Response> {
  discardBody(request);
  const { pathname, search } = new URL(request.url);
  const path = pathname.startsWith(base) ? pathname.slice(base.length) || "/" : pathname;
  const apiRequest = readApiRequest(receivedWeb(request, path, search));

  const exchange = handle(getOrStart(), apiRequest);
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
  const traits: RequestTraits[number][] = referrer?.startsWith("http") ? ["browser header", "from page"] : [];
  // A request from a network has a length; fetch leaves the length to the network.
  if (body !== null && body !== undefined && !request.headers.has("content-length")) traits.push("body");
  return { method, path, query, headers, traits };
}

/** Adds the header `Date` to a response with another date, such as that of `Retry-After`: clients compare them. A network always sends `Date`. */
function withDate(response: ApiResponse, date: number): ApiResponse {
  const hasOtherDate = response.headers.some((text) => text.endsWith(" GMT"));
  if (!hasOtherDate) return response;
  return { ...response, headers: [...response.headers, "Date", new Date(date).toUTCString()] };
}

/** Reads and drops a body, which no endpoint reads: in the middleware, its connection would wait for that forever. */
function discardBody(request: Request): void {
  const { body } = request;
  if (body && clientOf(request) === "middleware") body.pipeTo(new WritableStream()).catch(() => {});
}

/** Responds as `fetch` does, which a client calls with these arguments. */
export async function fetchResponse(
  currentSandbox: () => SandboxState,
  input: Request | URL | string,
  init: RequestInit | undefined,
): Promise<Response> {
  const request = requestOf(input, init);
  request.signal.throwIfAborted();
  const result = respondToWebRequest(currentSandbox, request);
  if (result instanceof Response) return withUrl(result, request);

  // A fault delays or breaks the response.
  const canBeAborted = init?.signal !== undefined || input instanceof Request;
  const response = canBeAborted ? await whileKept({ input, request }, result) : await result;
  if (response.type === "error") throw new TypeError("fetch failed", { cause: connectionReset() });
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
