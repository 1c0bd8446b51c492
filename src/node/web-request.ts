import type { IncomingMessage, ServerResponse } from "node:http";
import { pathOf } from "./read-request.js";
import { requestBody } from "./request-body.js";

// Fetch knows no requests with these methods.
const unwebly = new Set(["CONNECT", "TRACE", "TRACK"]);

/**
 * The web form of a request, or `undefined` when it has none.
 *
 * Its signal aborts when the client goes away before it is answered. Its host is that of `baseUrl`, whatever the client
 * called it.
 */
export function toWebRequest(
  request: IncomingMessage,
  response: ServerResponse,
  baseUrl: string,
): Request | undefined {
  const { method = "GET", url: target = "/" } = request;
  const url = urlOf(target, baseUrl);
  if (url === undefined || unwebly.has(method)) return undefined;
  const abort = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) abort.abort();
  });
  const hasBody = method !== "GET" && method !== "HEAD";
  return new Request(url, {
    method,
    headers: headersOf(request),
    signal: abort.signal,
    ...(hasBody && { body: requestBody(request, response), duplex: "half" }),
  } as RequestInit);
}

// Put together as text: resolved against the base, `//other.example/` would be another host. A path that cannot be
// decoded is left to the API too, because msw decodes every path that it compares.
function urlOf(target: string, baseUrl: string): URL | undefined {
  const path = pathOf(target);
  if (!path.startsWith("/")) return undefined;
  const query = target.indexOf("?");
  try {
    decodeURIComponent(path);
    return new URL(`${baseUrl}${path}${query === -1 ? "" : target.slice(query)}`);
  } catch {
    return undefined;
  }
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    appendHeader(headers, rawHeaders[i] as string, rawHeaders[i + 1] as string);
  }
  return headers;
}

// What HTTP allows in a header and the web's Headers does not is left out rather than failing the request.
function appendHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    // Left out.
  }
}
