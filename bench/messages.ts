/** The bytes that a bare server sends to any request, sent to it once. */
export interface ServerOrder {
  readonly headers: readonly string[];
  readonly body: string;
}

/** Sent by a server once it accepts requests. */
export interface ServerReady {
  readonly port: number;
  /** Its keys; none for a bare server. */
  readonly keys: readonly string[];
}

/** One round, sent to the client. */
export interface ClientOrder {
  readonly port: number;
  /** The paths in front of the API's; each request uses the next one. Default: none. */
  readonly bases?: readonly string[] | undefined;
  readonly connections: number;
  /** Each request uses the next one of them. */
  readonly keys: readonly string[];
  /** Ends after this many requests. */
  readonly requests: number;
  /** The status that each key must get; 200 for all of them when left out. */
  readonly statuses?: readonly number[] | undefined;
  /** The bytes at the end of every response, and nowhere before. Default: `}}}`. */
  readonly closing?: string | undefined;
}

/** The results of one round. */
export interface ClientReading {
  readonly perSecond: number;
  /** 99% of the responses took at most this many milliseconds. */
  readonly p99: number;
}
