import type { IncomingMessage, ServerResponse } from "node:http";
import { controlPath } from "../../node/addresses.js";
import { type ApiRequest, receivedRequest } from "../../rules/request.js";

const insideControl = `${controlPath}/`;

export function isControlPath(path: string): boolean {
  return path === controlPath || path.startsWith(insideControl);
}

const pagePath = new RegExp(`^${controlPath}(?:/?$|/assets/)`);

export function isPagePath(path: string): boolean {
  return pagePath.test(path);
}

function pathOf(target: string): string {
  // Clients send `GET http://host/path` to proxies; servers must also accept it (RFC 9112 §3.2.2).
  const start = target.startsWith("/") ? 0 : (/^https?:\/\/[^/?]*/i.exec(target)?.[0].length ?? 0);
  const end = target.indexOf("?", start);
  if (start === 0) return end === -1 ? target : target.slice(0, end);
  return target.slice(start, end === -1 ? undefined : end) || "/";
}

function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start);
}

export function readRequest(request: IncomingMessage, response: ServerResponse): ApiRequest | undefined {
  let hosts = 0;
  const target = request.url ?? "/";
  // Raw headers, because Node's header object costs as much as the rest of the response.
  const headers = request.rawHeaders;
  for (let i = 0; i < headers.length; i += 2) {
    const name = (headers[i] as string).toLowerCase();
    if (name === "host") hosts += 1;
    // Node drops requests pipelined after an upgrade. Java's client offers h2c with every request, but pipelines nothing.
    else if (name === "upgrade" && headers[i + 1] !== "h2c") response.shouldKeepAlive = false;
  }
  // HTTP/1.1 requires exactly one Host (RFC 9112 §3.2).
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor === 1)) return undefined;
  const { method = "GET" } = request;
  return receivedRequest({ method, path: pathOf(target), query: queryOf(target), headers });
}
