import type { IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { pathOf, queryOf } from "./read-request.js";
import { refuseBody } from "./send-answer.js";

// Fetch knows no requests with these methods.
const notOnTheWeb = new Set(["CONNECT", "TRACE", "TRACK"]);

/**
 * Makes the web `Request` of a request; `undefined` when it has none.
 *
 * Its signal aborts when the client goes away before it is answered. Its host is that of `baseUrl`, whatever the `Host` header.
 * A body of more than `maxBody` megabytes is answered with 413 when that much of it is read.
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

// Joined as text: resolved against the base, `//other.example/` would be another host. A path that cannot be decoded is left
// to the API, because msw decodes every path that it compares.
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
      // A header that HTTP allows and the web's Headers does not is left out rather than failing the request.
    }
  }
  return headers;
}

/**
 * Makes a web stream of the body that reads no faster than it is read.
 *
 * It ends when the answer is sent, with what had come, and the rest is thrown away: the next request on the connection
 * comes behind it. A handler may still be reading, and an error would meet nothing that catches it.
 */
function requestBody(request: IncomingMessage, response: ServerResponse, maxBody: number): ReadableStream {
  // Between the two, because a web stream that is cancelled would destroy the request, and with it the connection.
  const body = request.pipe(new PassThrough());
  let left = maxBody * 2 ** 20;
  request.on("data", ({ length }: Buffer) => {
    left -= length;
    if (left >= 0 || response.writableEnded) return;
    const most = `The body is longer than ${maxBody} MB, the limit for handlers`;
    refuseBody(response, `${most}: --max-body, or maxBody in the library, sets another limit.`);
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
 * Sends a web `Response`: its status, headers (each cookie on its own), and its body as fast as the client reads it.
 *
 * Throws what the body throws when it breaks off; the connection has to be closed then, so that the client sees it too.
 */
export async function sendWebResponse(
  response: Response,
  to: ServerResponse,
  withBody: boolean,
): Promise<void> {
  // Checked before the head is sent, while another answer is still possible.
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

// Cancelling a body tells its source to stop; an error of that does not matter.
const ignore = () => {};

// By hand: a stream pipeline does not tell a body that breaks off from a client that goes away.
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
    // msw marks its mocked responses with headers of its own.
    if (name !== "set-cookie" && !name.startsWith("x-msw-")) flat.push(name, value);
  });
  for (const cookie of headers.getSetCookie()) flat.push("set-cookie", cookie);
  return flat;
}
