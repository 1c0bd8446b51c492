import { type Agent, type IncomingHttpHeaders, request } from "node:http";
import { request as requestTls } from "node:https";
import { headerPairs } from "../../src/api/http-messages.js";
import { isOfTheConnection, mePath, type Send, textOf } from "./send.js";

/** What to send to a server; headers and path go out as they are given. */
export interface Outgoing {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
  /** Default: each request has a connection of its own. */
  readonly agent?: Agent;
  /** The only certificate that is trusted over HTTPS. */
  readonly ca?: string | undefined;
  readonly signal?: AbortSignal;
}

export interface Incoming {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly pairs: readonly (readonly [name: string, value: string])[];
  readonly bytes: Buffer;
}

/** Sends with Node's own client, which sends whatever it is told to, unlike `fetch`. */
export function exchange(url: string, { headers, body, ...options }: Outgoing) {
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const sent = { agent: false as const, ...options, headers: { ...length, ...headers } as object };
  return new Promise<Incoming>((resolve, reject) => {
    const sending = (url.startsWith("https:") ? requestTls : request)(url, sent as object, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("close", () => {
        const { statusCode = 0, headers, rawHeaders } = response;
        resolve({
          status: statusCode,
          headers,
          pairs: headerPairs(rawHeaders),
          bytes: Buffer.concat(chunks),
        });
      });
    });
    sending.on("error", reject).end(body);
  });
}

/** Sends to a port of this machine; by default each request on its own connection. */
export function sendOnSocket(port: number, agent?: Agent): Send {
  return async ({ path = mePath, ...sent }) => {
    const options = { ...sent, path, ...(agent !== undefined && { agent }) };
    const { status, pairs, bytes } = await exchange(`http://127.0.0.1:${port}`, options);
    return { status, headers: pairs.filter(([name]) => !isOfTheConnection(name)), body: textOf(bytes) };
  };
}
