/** What a test sends; keys stand in its headers. */
export interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** Several values of one name are sent as several headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

/** An answer as a client sees it, whichever door it came through. */
export interface Seen {
  readonly status: number;
  /** Names as the client gets them; without those that belong to the connection. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

/** Sends one request through a door. */
export type Send = (sent: Sent) => Promise<Seen>;

export const mePath = "/v1/relying-party/me";

const ofTheConnection = new Set(["date", "connection", "keep-alive", "transfer-encoding"]);

/** Whether a header is about the connection rather than about the answer. */
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
