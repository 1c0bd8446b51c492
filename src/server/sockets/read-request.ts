import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyOf, longestBody, noBody, tooLongBody } from "../../api/request-body.js";
import { controlPath } from "../../node/addresses.js";
import type { ApiRequest, ReadBody, RequestContent } from "../../sandbox/history/exchange.js";
import { evidenceOf, isNamed, traitsOfHeader, traitsOfQuery } from "../../spec/request-traits.js";

const insideControl = `${controlPath}/`;

/** Whether a path is in the control plane. */
export function isControlPath(path: string): boolean {
  return path === controlPath || path.startsWith(insideControl);
}

/** Returns the path of a request target, without the scheme and authority of an absolute one. */
export function pathOf(target: string): string {
  // Clients send `GET http://host/path` to proxies; servers must also accept it (RFC 9112 §3.2.2).
  const start = target.startsWith("/") ? 0 : (/^https?:\/\/[^/?]*/i.exec(target)?.[0].length ?? 0);
  const end = target.indexOf("?", start);
  if (start === 0) return end === -1 ? target : target.slice(0, end);
  return target.slice(start, end === -1 ? undefined : end) || "/";
}

/** Returns the query of a request target with its question mark; empty if it has none. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start);
}

/** Reads a request to the API; `undefined` if HTTP requires its rejection. */
export function readRequest(request: IncomingMessage, response: ServerResponse): ApiRequest | undefined {
  let apiKey: string | undefined;
  let hosts = 0;
  const target = request.url ?? "/";
  const query = queryOf(target);
  let traits = traitsOfQuery(query);
  // Raw headers, because Node's header object costs as much as the rest of the response.
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (isNamed(name, "x-api-key")) {
      apiKey = apiKey === undefined ? (raw[i + 1] as string) : `${apiKey}, ${raw[i + 1]}`;
    } else if (isNamed(name, "host")) {
      hosts += 1;
    } else if (isNamed(name, "upgrade")) {
      // Node drops requests pipelined after an upgrade. Java's client offers h2c with every request, but pipelines nothing.
      if (raw[i + 1] !== "h2c") response.shouldKeepAlive = false;
    } else {
      traits |= traitsOfHeader(name, raw[i + 1] as string);
    }
  }
  // HTTP/1.1 requires exactly one Host (RFC 9112 §3.2).
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor === 1)) return undefined;
  return {
    method: request.method ?? "GET",
    path: pathOf(target),
    apiKey,
    traits,
    evidence: traits === 0 ? undefined : evidenceOf(traits, query, () => namedHeaders(request)),
  };
}

// Headers with the same name form a list (RFC 9110).
function joinedHeader(request: IncomingMessage, wanted: string): string | undefined {
  const values = headersOf(request, wanted);
  return values.length === 0 ? undefined : values.join(", ");
}

function* namedHeaders({ rawHeaders }: IncomingMessage): Iterable<[name: string, value: string]> {
  for (let i = 0; i < rawHeaders.length; i += 2) yield [rawHeaders[i] as string, rawHeaders[i + 1] as string];
}

function headersOf({ rawHeaders }: IncomingMessage, wanted: string): string[] {
  return rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === wanted);
}

/**
 * Reads the input of an endpoint and calls `then` with it, synchronously if no body is read.
 *
 * Stops reading a body that is too long. Does not call `then` if the client goes away first.
 */
export function readContent(
  request: IncomingMessage,
  takesBody: boolean,
  then: (content: RequestContent) => void,
): void {
  const content = {
    query: queryOf(request.url ?? "").slice(1),
    contentType: joinedHeader(request, "content-type"),
    idempotencyKey: joinedHeader(request, "idempotency-key"),
  };
  if (takesBody) readBody(request, (body) => then({ ...content, body }));
  else then({ ...content, body: noBody });
}

function readBody(request: IncomingMessage, then: (body: ReadBody) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  const settle = (body: ReadBody) => {
    request.off("data", gather).off("end", finish);
    then(body);
  };
  const gather = (chunk: Buffer) => {
    length += chunk.length;
    if (length <= longestBody) chunks.push(chunk);
    // Node discards the rest once the response is sent.
    else settle(tooLongBody);
  };
  const finish = () => settle(bodyOf(Buffer.concat(chunks)));
  // Without a listener, Node would throw the error of a client that goes away.
  request.on("data", gather).on("end", finish).on("error", ignore);
}

const ignore = () => {};
