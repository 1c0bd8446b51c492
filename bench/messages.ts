/** What kind of server to start, sent to it once. */
export type ServerOrder =
  | { readonly kind: "sandbox"; readonly keys: number }
  /** Sends these bytes, whatever is asked. */
  | { readonly kind: "bare"; readonly headers: readonly string[]; readonly body: string };

/** What a server says when it accepts requests. */
export interface ServerReady {
  readonly port: number;
  /** Some of the keys it knows, chosen at random; none for a bare server. */
  readonly keys: readonly string[];
}

/** What a server says of itself when asked. */
export interface ServerReading {
  /** Bytes in use after a full collection; 0 when the server cannot collect on demand. */
  readonly heap: number;
  /** Microseconds of processor time since the last reading. */
  readonly cpu: number;
}

/** One round, sent to the client. */
export interface ClientOrder {
  readonly port: number;
  readonly connections: number;
  /** One of them goes out with each request, in turn; none for a bare server. */
  readonly keys: readonly string[];
  /** Ends after this many requests. */
  readonly requests: number;
}

/** What the client saw in one round. */
export interface ClientReading {
  readonly perSecond: number;
  /** Milliseconds that 99 of 100 answers took at most. */
  readonly p99: number;
}
