import { median } from "../median.js";

/** Ratios of many rounds or starts: the median, the smallest and the largest. */
export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** What was measured of a peer with one number of keys. Ratios but for the memory, which is in bytes. */
export interface Reading {
  /** Requests per second, to a bare `node:http` server. */
  readonly requests: Spread;
  /** The 99th percentile of latency, to that server's. */
  readonly p99: Spread;
  /** The time from the start of the command to its first right answer, to that of `node -e 0`. */
  readonly firstAnswer: Spread;
  readonly memory: { readonly idle: number; readonly after: number };
}

/** What is known of a peer. */
export interface PeerResult {
  readonly version: string;
  /** Bytes on disk and packages of its installation, without Node and Java. */
  readonly size: { readonly bytes: number; readonly packages: number };
  /** By the number of keys: what was measured, or why it could not be. */
  readonly readings: Readonly<Record<string, Reading | { readonly failure: string }>>;
}

/** All results, by the names of the peers, and where they were measured. */
export interface Results {
  readonly machine: string;
  readonly peers: Readonly<Record<string, PeerResult>>;
}

/** The numbers of keys of the job. */
export const keyCounts = [15, 1000, 10_000] as const;

/** The spread of some ratios. */
export function spreadOf(ratios: readonly number[]): Spread {
  return {
    median: rounded(median(ratios)),
    least: rounded(Math.min(...ratios)),
    most: rounded(Math.max(...ratios)),
  };
}

function rounded(ratio: number): number {
  return Number(ratio.toPrecision(3));
}

/** The results with those of one peer and number of keys put in. */
export function withReading(
  results: Results,
  name: string,
  { version, size }: Pick<PeerResult, "version" | "size">,
  keys: number,
  reading: PeerResult["readings"][string],
): Results {
  const before = results.peers[name];
  // Those of another version cannot stand beside the new one.
  const readings = before?.version === version ? before.readings : {};
  const peer = { version, size, readings: { ...readings, [keys]: reading } };
  return { ...results, peers: { ...results.peers, [name]: peer } };
}
