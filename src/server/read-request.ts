import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { bodyOf, longestBody, noBody, tooLongBody } from "../api/request-body.js";
import { evidenceOf, isNamed, traitsOfHeader, traitsOfQuery } from "../domain/request-traits.js";
import type { ApiRequest, Connection, ReadBody, RequestContent } from "../history/exchange.js";
import { controlPath } from "../node/addresses.js";
import { repeatsOfDirectLoop } from "../world/known-answers.js";

const insideControl = `${controlPath}/`;

/** Whether a path belongs to the control plane. */
export function isControlPath(path: string): boolean {
  return path === controlPath || path.startsWith(insideControl);
}

/** Returns the path of a request target, without scheme and authority in the absolute form. */
export function pathOf(target: string): string {
  // Clients send `GET http://host/path` to a proxy; a server must understand it too (RFC 9112 §3.2.2).
  const start = target.startsWith("/") ? 0 : (/^https?:\/\/[^/?]*/i.exec(target)?.[0].length ?? 0);
  const end = target.indexOf("?", start);
  if (start === 0) return end === -1 ? target : target.slice(0, end);
  return target.slice(start, end === -1 ? undefined : end) || "/";
}

/** Returns the query of a request target, question mark included; empty when there is none. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start);
}

/** Reads a request for the API; `undefined` for one that HTTP forbids to answer. */
export function readRequest(request: IncomingMessage, response: ServerResponse): ApiRequest | undefined {
  let apiKey: string | undefined;
  let hosts = 0;
  const target = request.url ?? "/";
  const query = queryOf(target);
  let traits = traitsOfQuery(query);
  // The raw headers, because building Node's header object costs as much as the rest of the answer.
  const raw = request.rawHeaders;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string;
    if (isNamed(name, "x-api-key")) {
      apiKey = apiKey === undefined ? (raw[i + 1] as string) : `${apiKey}, ${raw[i + 1]}`;
    } else if (isNamed(name, "host")) {
      hosts += 1;
    } else if (isNamed(name, "upgrade")) {
      // Node drops what is pipelined behind it. Java's client offers h2c with every request, and pipelines nothing.
      if (raw[i + 1] !== "h2c") response.shouldKeepAlive = false;
    } else {
      traits |= traitsOfHeader(name, raw[i + 1] as string);
    }
  }
  // HTTP/1.1 asks for exactly one Host (RFC 9112 §3.2).
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor === 1)) return undefined;
  return {
    method: request.method ?? "GET",
    path: pathOf(target),
    apiKey,
    traits,
    evidence: traits === 0 ? undefined : evidenceOf(traits, query, () => namedHeaders(request)),
    connection: connectionOf(request, response),
  };
}

const connections = new WeakMap<Socket, Connection>();

// A response without a socket waits for the one before it: its request was sent before that was answered.
function connectionOf(request: IncomingMessage, { socket }: ServerResponse): Connection | undefined {
  if (socket === null) return undefined;
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const connection = { repeatsOfLoop: isDirect(request) ? repeatsOfDirectLoop : Number.POSITIVE_INFINITY };
  connections.set(socket, connection);
  return connection;
}

// A client names its own connection so, and no proxy passes that on (RFC 9110 §7.6.1).
function isDirect(request: IncomingMessage): boolean {
  const says = (name: string) => headersOf(request, name).length > 0;
  const keepsAlive = headersOf(request, "connection").some((value) => value.toLowerCase() === "keep-alive");
  return keepsAlive && !says("via") && !says("forwarded") && !says("x-forwarded-for");
}

// Several headers of a name are a list (RFC 9110).
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
 * Reads the input of an endpoint and calls `then` with it: at once when there is no body to read.
 *
 * A body that is too long is not read to its end. Never calls when the client goes away first.
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
    // Node throws the rest away once the answer is sent.
    else settle(tooLongBody);
  };
  const finish = () => settle(bodyOf(Buffer.concat(chunks)));
  // Without a listener, the error of a client that goes away would be thrown.
  request.on("data", gather).on("end", finish).on("error", ignore);
}

const ignore = () => {};
