import { readApiRequest } from "../../src/api/read-request.js";
import type { ApiRequest } from "../../src/rules/request.js";

/** A request of a test; its key stands in the headers. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** Several values of one name are sent as several headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** A response as a client sees it through any entry point. */
export interface Seen {
  readonly status: number;
  /** Names as the client gets them; without those that belong to the connection. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export type Send = (sent: Sent) => Promise<Seen>;

export const mePath = "/v1/relying-party/me";

/** A request to the API inside of a sandbox: `GET /v1/relying-party/me` without a key, except for what is given. */
export function asked(given: Partial<ApiRequest>): ApiRequest {
  return { ...readApiRequest({ method: "GET", path: mePath, query: "", headers: [] }), ...given };
}

const ofTheConnection = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

/** Whether a header is about the connection rather than about the response. */
export function isOfTheConnection(name: string): boolean {
  return ofTheConnection.has(name.toLowerCase());
}

/** The text of bytes; throws when they are not UTF-8, so that equal texts are equal bytes. */
export function textOf(bytes: Uint8Array | ArrayBuffer): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

/** The value of a header, whatever its case; `undefined` when it is not there. */
export function headerOf(seen: Seen, name: string): string | undefined {
  return seen.headers.find(([one]) => one.toLowerCase() === name.toLowerCase())?.[1];
}

/** Sends with a fetch: that of a sandbox, of Node or of a page. Throws the fetch's `TypeError` for what it rejects. */
export function sendWithFetch(fetch: (url: string, init: RequestInit) => Promise<Response>, base: string) {
  return async (sent: Sent) => seenIn(await fetch(base + (sent.path ?? mePath), initOf(sent)));
}

function initOf({ method = "GET", headers = {}, body }: Sent): RequestInit {
  const web = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    for (const one of [value].flat()) web.append(name, one as string);
  }
  return { method, headers: web, ...(body !== undefined && { body }) };
}

async function seenIn(response: Response): Promise<Seen> {
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => !isOfTheConnection(name)),
    body: textOf(await response.arrayBuffer()),
  };
}
