import { handle } from "../api/handle.js";
import { readApiRequest } from "../rules/read-request.js";
import type { Received, RequestTraits } from "../rules/request.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { clientOf, deliverOverWeb, toResponse } from "./web-delivery.js";

/** Responds to a web `Request`: synchronously, unless the response is late, broken or left out. `base`: the path of the base URL, without a slash at its end. */
export function respondToWebRequest(
  getOrStart: () => SandboxState,
  request: Request,
  base = "",
): Response | Promise<Response> {
  const { body } = request;
  // No endpoint reads a body: in the middleware, its connection would wait for that forever.
  if (body && clientOf(request) === "middleware") body.pipeTo(new WritableStream()).catch(() => {});

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
  const result = respondToWebRequest(currentSandbox, request);
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
