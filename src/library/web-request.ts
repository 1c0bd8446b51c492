import { handle } from "../api/handle.js";
import { bodyOf, longestBody, noBody, tooLongBody } from "../api/request-body.js";
import { inputAt } from "../api/routes.js";
import type { ApiRequest, ReadBody, RequestContent } from "../sandbox/history/exchange.js";
import type { World } from "../sandbox/world.js";
import { evidenceOf, traitsOfWebRequest } from "../spec/request-traits.js";
import { deliverOverWeb, toResponse } from "./web-response.js";

/**
 * Responds to a web `Request` to the API, which is mounted at the path `base`, without a slash at its end.
 *
 * Synchronous, unless a fault applies or the endpoint accepts a body or a query. Calls `world` again once the request is
 * read completely.
 */
export function answerWebRequest(
  world: () => World,
  request: Request,
  base = "",
): Response | Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method } = request;
  const path = pathname.startsWith(base) ? pathname.slice(base.length) || "/" : pathname;
  const apiKey = request.headers.get("x-api-key") ?? undefined;
  const traits = traitsOfWebRequest(request, search);
  const evidence = evidenceOf(traits, search, () => request.headers);
  const read = { method, path, apiKey, traits, evidence };
  const atFirst = world();
  const takes = inputAt(atFirst.preview, method, path);
  if (takes === undefined) return answerRead(atFirst, read, request);
  return readContent(request, search, takes.body !== undefined).then((content) =>
    answerRead(world(), { ...read, content }, request),
  );
}

function answerRead(world: World, read: ApiRequest, request: Request): Response | Promise<Response> {
  const { answer: given, delivery, at } = handle(world, read);
  // Clients compare a date in a header with `Date`, which a network always sends.
  const isDated = given.status === 429 && given.headers.some((value) => value.endsWith(" GMT"));
  const date = ["Date", new Date(at).toUTCString()];
  const answer = isDated ? { ...given, headers: [...given.headers, ...date] } : given;
  return delivery === undefined
    ? toResponse(answer, request.method)
    : deliverOverWeb(delivery, answer, request);
}

/** Reads query, headers and body for an endpoint that accepts them. Rejects if the body breaks off. */
export async function readContent(
  request: Request,
  search: string,
  takesBody: boolean,
): Promise<RequestContent> {
  return {
    query: search.slice(1),
    contentType: request.headers.get("content-type") ?? undefined,
    idempotencyKey: request.headers.get("idempotency-key") ?? undefined,
    body: takesBody ? await readBody(request) : noBody,
  };
}

async function readBody(request: Request): Promise<ReadBody> {
  const { body } = request;
  if (body === null) return noBody;
  // The Request of some test environments has no streams.
  if (body === undefined) return bodyOf(new TextEncoder().encode(await request.text()));
  const reader = body.getReader();
  const gathered = new Uint8Array(longestBody);
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return bodyOf(gathered.subarray(0, length));
    if (length + value.length > longestBody) {
      // The rest is not needed, even if canceling fails.
      reader.cancel().catch(() => {});
      return tooLongBody;
    }
    gathered.set(value, length);
    length += value.length;
  }
}

// A signal reaches a derived request only while that request is referenced, and awaiting does not reference it.
const waiting = new Set<object>();

/** Responds like `fetch`: rejects when the request's signal is aborted, and with a `TypeError` for a network error. */
export async function fetchAnswer(
  world: () => World,
  input: Request | URL | string,
  init: RequestInit | undefined,
): Promise<Response> {
  const request = requestOf(input, init);
  request.signal.throwIfAborted();
  const answer = answerWebRequest(world, request);
  if ("status" in answer) return fetched(answer, request);
  const held = { input, request };
  const canBeAborted = init?.signal !== undefined || input instanceof Request;
  if (canBeAborted) waiting.add(held);
  try {
    const response = await answer;
    if (response.type === "error") throw new TypeError("fetch failed", { cause: connectionReset() });
    return fetched(response, request);
  } finally {
    waiting.delete(held);
  }
}

// A request without a body needs no copy, which would take as long as the response.
function requestOf(input: Request | URL | string, init: RequestInit | undefined): Request {
  const isItself = init === undefined && input instanceof Request && input.body === null;
  return isItself ? input : new Request(input, init);
}

// Sets the URL, which a response from the network has and a constructed one does not.
function fetched(response: Response, request: Request): Response {
  const [url] = request.url.split("#");
  const clone = () => fetched(Response.prototype.clone.call(response), request);
  return Object.defineProperties(response, { url: { value: url }, clone: { value: clone } });
}

/** Makes Node's error for a reset connection. */
export function connectionReset(): Error {
  return Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET", syscall: "read" });
}
