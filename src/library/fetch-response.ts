import type { SandboxState } from "../sandbox/sandbox-state.js";
import { respondToWebRequest } from "./web-request.js";

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
