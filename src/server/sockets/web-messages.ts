import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { pathOf, queryOf } from "./read-request.js";
import { refuseBody } from "./send-answer.js";

// Fetch forbids these methods.
const notOnTheWeb = new Set(["CONNECT", "TRACE", "TRACK"]);

/**
 * Makes the web `Request` of a request; `undefined` if the web has none like it.
 *
 * Its signal aborts if the client goes away before the response. Its host is always `baseUrl`'s, not the `Host` header's. A
 * body gets 413 once more than `maxBody` megabytes are read.
 */
export function toWebRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { baseUrl, maxBody }: { readonly baseUrl: string; readonly maxBody: number },
): Request | undefined {
  const { method = "GET", url: target = "/" } = request;
  const url = urlOf(target, baseUrl);
  if (url === undefined || notOnTheWeb.has(method)) return undefined;
  const abort = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) abort.abort();
  });
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(url, {
    method,
    headers: webHeaders(request),
    signal: abort.signal,
    ...(hasBody && { body: requestBody(request, response, maxBody), duplex: "half" }),
  } as RequestInit);
}

// Joined as text: resolved against the base, `//other.example/` would be another host. The API gets a path that cannot be
// decoded, because msw decodes every path that it compares.
function urlOf(target: string, baseUrl: string): URL | undefined {
  const path = pathOf(target);
  try {
    decodeURIComponent(path);
    return path.startsWith("/") ? new URL(baseUrl + path + queryOf(target)) : undefined;
  } catch {
    return undefined;
  }
}

function webHeaders({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    try {
      headers.append(rawHeaders[i] as string, rawHeaders[i + 1] as string);
    } catch {
      // Leaves out a header that HTTP allows and the web's Headers rejects.
    }
  }
  return headers;
}

/**
 * Makes a web stream of the body, with backpressure.
 *
 * It ends when the response is sent, and discards the rest, because the next request on the connection follows. It does not
 * end with an error: a handler may still be reading, and nothing would catch it.
 */
function requestBody(request: IncomingMessage, response: ServerResponse, maxBody: number): ReadableStream {
  // In between, because a canceled web stream would destroy the request and its connection.
  const body = request.pipe(new PassThrough());
  let left = maxBody * 2 ** 20;
  request.on("data", ({ length }: Buffer) => {
    left -= length;
    if (left >= 0 || response.writableEnded) return;
    const most = `The body is longer than ${maxBody} MB, the limit for handlers`;
    refuseBody(response, `${most}: maxBody of startServer sets another limit.`);
  });
  request.once("close", () => {
    if (!request.complete) body.destroy(new Error("The client has gone."));
  });
  response.once("finish", () => {
    request.unpipe(body).resume();
    body.end();
  });
  return Readable.toWeb(body) as ReadableStream;
}

/**
 * Sends a web `Response`: its status, its headers (a header for each cookie), and its body as fast as the client reads it.
 *
 * Throws the error of a body that breaks off; the caller must then close the connection, so that the client notices.
 */
export async function sendWebResponse(
  response: Response,
  to: ServerResponse,
  withBody: boolean,
): Promise<void> {
  // Checked before the head is sent, while another response is possible.
  if (response.bodyUsed || response.body?.locked) {
    throw new TypeError(
      "The body of the response has been read already. Make a new response for every request.",
    );
  }
  if (response.status < 200) throw new RangeError(`${response.status} is not the status of a response.`);
  to.writeHead(response.status, response.statusText || undefined, flatHeaders(response));
  if (response.body !== null && withBody) await sendBody(response.body, to);
  else response.body?.cancel().catch(ignore);
  to.end();
}

// Canceling a body stops its source; errors of that do not matter.
const ignore = () => {};

// Not a stream pipeline, which does not distinguish a broken body from a client that goes away.
async function sendBody(body: ReadableStream<Uint8Array>, to: ServerResponse): Promise<void> {
  const reader = body.getReader();
  to.once("close", () => reader.cancel().catch(ignore));
  for (;;) {
    const { done, value } = await reader.read();
    if (done || to.destroyed) return;
    if (!to.write(value)) await drained(to);
  }
}

function drained(to: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      to.off("drain", go).off("close", go);
      resolve();
    };
    to.on("drain", go).on("close", go);
  });
}

function flatHeaders({ headers }: Response): string[] {
  const flat: string[] = [];
  headers.forEach((value, name) => {
    // msw marks its responses with its own headers.
    if (name !== "set-cookie" && !name.startsWith("x-msw-")) flat.push(name, value);
  });
  for (const cookie of headers.getSetCookie()) flat.push("set-cookie", cookie);
  return flat;
}
