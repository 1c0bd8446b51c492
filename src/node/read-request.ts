import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { ApiRequest } from "../api/messages.js";
import { leakedKeysIn, traitsOfHeader, traitsOfQuery } from "../domain/request-traits.js";
import type { Connection } from "../sandbox/behaviour/known-answers.js";

/** The request target's path: without its query, and without scheme and authority in the absolute form. */
export function pathOf(target: string): string {
  const start = target.startsWith("/") ? 0 : authorityEnd(target);
  const end = target.indexOf("?", start);
  if (start === 0) return end === -1 ? target : target.slice(0, end);
  const path = end === -1 ? target.slice(start) : target.slice(start, end);
  return path === "" ? "/" : path;
}

// `GET http://host/path` is what clients send to a proxy; a server must understand it too (RFC 9112 §3.2.2).
function authorityEnd(target: string): number {
  const scheme = /^https?:\/\/[^/?]*/i.exec(target);
  return scheme === null ? 0 : scheme[0].length;
}

/** The query of a request target, question mark included; empty when there is none. */
export function queryOf(target: string): string {
  const start = target.indexOf("?");
  return start === -1 ? "" : target.slice(start);
}

/** Reads what the API looks at, or `undefined` when the request is one that HTTP forbids to answer. */
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
    if (name.length === 9 && name.toLowerCase() === "x-api-key") {
      apiKey = apiKey === undefined ? (raw[i + 1] as string) : `${apiKey}, ${raw[i + 1]}`;
    } else if (name.length === 4 && name.toLowerCase() === "host") {
      hosts += 1;
    } else {
      traits |= traitsOfHeader(name, raw[i + 1] as string);
    }
  }
  // HTTP/1.1 asks for exactly one Host (RFC 9112 §3.2).
  if (hosts > 1 || (hosts === 0 && request.httpVersionMinor === 1)) return undefined;
  const leaked =
    traits === 0
      ? undefined
      : leakedKeysIn(traits, query, () => headersOf(request, "authorization").join(", "));
  return {
    method: request.method ?? "GET",
    path: pathOf(target),
    apiKey,
    traits,
    leaked,
    connection: connectionOf(request, response),
  };
}

const connections = new WeakMap<Socket, Connection>();

// A response without a socket waits for the one before it: its request was sent before that was answered.
function connectionOf(request: IncomingMessage, { socket }: ServerResponse): Connection | undefined {
  if (socket === null) return undefined;
  const known = connections.get(socket);
  if (known !== undefined) return known;
  const connection = { isDirect: isDirect(request) };
  connections.set(socket, connection);
  return connection;
}

// Clients say so of their own connection, and proxies pass it on to nobody (RFC 9110 §7.6.1).
function isDirect(request: IncomingMessage): boolean {
  const says = (name: string) => headersOf(request, name).length > 0;
  const keepsAlive = headersOf(request, "connection").some((value) => value.toLowerCase() === "keep-alive");
  return keepsAlive && !says("via") && !says("forwarded") && !says("x-forwarded-for");
}

function headersOf({ rawHeaders }: IncomingMessage, wanted: string): string[] {
  return rawHeaders.filter((_value, i) => i % 2 === 1 && rawHeaders[i - 1]?.toLowerCase() === wanted);
}
