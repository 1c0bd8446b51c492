import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf, contentOf, longestBody, noBody, tooLongBody } from "../../api/request-input.js";
import { controlPath } from "../../node/addresses.js";
import { type ApiRequest, type ReadBody, type RequestContent, receivedRequest } from "../../rules/request.js";

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

/** Synchronous if no body is read. Does not call `then` if the client goes away first. */
export function readContent(
  request: IncomingMessage,
  takesBody: boolean,
  then: (content: RequestContent) => void,
): void {
  const received = { query: queryOf(request.url ?? ""), headers: request.rawHeaders };
  if (takesBody) readBody(request, (body) => then(contentOf(received, body)));
  else then(contentOf(received, noBody));
}

function readBody(request: IncomingMessage, then: (body: ReadBody) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const stop = (body: ReadBody) => {
    request.off("data", gather).off("end", finish);
    then(body);
  };
  const gather = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= longestBody) chunks.push(chunk);
    // Node discards the rest once the response is sent.
    else stop(tooLongBody);
  };
  const finish = () => stop(bodyOf(Buffer.concat(chunks)));
  // Without a listener, Node would throw the error of a client that goes away.
  request.on("data", gather).on("end", finish).on("error", ignore);
}

const ignore = () => {};
