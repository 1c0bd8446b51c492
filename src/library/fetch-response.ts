import type { SandboxState } from "../sandbox/sandbox-state.js";
import { respondToWebRequest } from "./web-request.js";

/**
 * Keeps the requests of late responses from the garbage collector. Awaiting a response does not reference its request, and a
 * collected request no longer gets the signal of the client, so that the client could not abort it.
 */
const referencedRequests = new Set<object>();

/** Responds as `fetch` does, which a client calls with these arguments. */
export async function fetchResponse(
  state: () => SandboxState,
  input: Request | URL | string,
  init: RequestInit | undefined,
): Promise<Response> {
  const request = requestOf(input, init);
  request.signal.throwIfAborted();
  const result = respondToWebRequest(state, request);
  if (result instanceof Response) return withUrl(result, request);

  // A fault delays or breaks the response.
  const referenced = { input, request };
  const canBeAborted = init?.signal !== undefined || input instanceof Request;
  if (canBeAborted) referencedRequests.add(referenced);
  try {
    const response = await result;
    if (response.type === "error") throw new TypeError("fetch failed", { cause: connectionReset() });
    return withUrl(response, request);
  } finally {
    referencedRequests.delete(referenced);
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
