/** What kind of server to start, sent to it once. */
export type ServerOrder =
  /** A world with this many keys, written out one by one or as a population. */
  | { readonly kind: "sandbox"; readonly keys: number; readonly isPopulation?: boolean }
  /**
   * Sends these bytes, whatever is asked; with the URL of a Redis, after it has counted the request there; with a
   * certificate, over HTTP/2.
   */
  | {
      readonly kind: "bare";
      readonly headers: readonly string[];
      readonly body: string;
      readonly redis?: string;
      readonly tls?: { readonly cert: string; readonly key: string };
    };

/** What a server says when it accepts requests. */
export interface ServerReady {
  readonly port: number;
  /** Up to 1,000 of the keys it knows; none for a bare server. */
  readonly keys: readonly string[];
}

/** One round, sent to the client. */
export interface ClientOrder {
  readonly port: number;
  readonly connections: number;
  /** Requests under way on each connection, over HTTP/2; one over HTTP/1.1 when left out. */
  readonly streams?: number | undefined;
  /** One of them goes out with each request, in turn. */
  readonly keys: readonly string[];
  /** Ends after this many requests. */
  readonly requests: number;
  /** The lines of its own that each key's request has besides; none when left out. */
  readonly headerLines?: readonly string[] | undefined;
  /** The status that each key has to get; 200 for all of them when left out. */
  readonly statuses?: readonly number[] | undefined;
  /** The bytes with which every answer ends, and nothing that comes before its end; `}}}` when left out. */
  readonly closing?: string | undefined;
}

/** What the client saw in one round. */
export interface ClientReading {
  readonly perSecond: number;
  /** Milliseconds that half of the answers took at most. */
  readonly p50: number;
  /** Milliseconds that 99 of 100 answers took at most. */
  readonly p99: number;
}

/** One round of farmers, sent to their program. */
export interface FarmersOrder {
  /** How many to make each time. */
  readonly farmers: number;
}

/** Records a second, and seconds for each farmer at both ends of a million. */
export interface FarmersReading {
  readonly farmers: number;
  readonly faker: number;
  readonly first: number;
  readonly last: number;
}

/** One round of the library, sent to its program. */
export interface LibraryOrder {
  /** How many requests to answer; a tenth as often, sandboxes are made. */
  readonly calls: number;
  /** How many sandboxes to keep in memory at once. */
  readonly sandboxes: number;
}

/** Microseconds for each call, and bytes for each thing that is kept. */
export interface LibraryReading {
  readonly fetch: number;
  readonly trivialHandler: number;
  readonly create: number;
  readonly reset: number;
  readonly clone: number;
  readonly bytesOfSandbox: number;
  readonly bytesOfClone: number;
}
