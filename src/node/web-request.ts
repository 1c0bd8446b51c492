import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";

/** The web form of a request; its signal aborts when the client goes away before it is answered. */
export function toWebRequest(request: IncomingMessage, response: ServerResponse, baseUrl: string): Request {
  const abort = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) abort.abort();
  });
  const headers = new Headers();
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    appendHeader(headers, request.rawHeaders[i] as string, request.rawHeaders[i + 1] as string);
  }
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  return new Request(new URL(request.url ?? "/", baseUrl), {
    method: request.method ?? "GET",
    headers,
    signal: abort.signal,
    ...(hasBody && { body: Readable.toWeb(request) as ReadableStream<Uint8Array>, duplex: "half" }),
  } as RequestInit);
}

// What HTTP allows in a header and the web's Headers does not is left out rather than failing the request.
function appendHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.append(name, value);
  } catch {
    // Left out.
  }
}
