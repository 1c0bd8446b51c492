import type { Exchange, Job } from "./job.js";

/** Where a peer is to be started. */
export interface Place {
  /** Holds the files that `files` wrote, and is the working folder. */
  readonly folder: string;
  /** The `node_modules` of bench/peers. */
  readonly modules: string;
  /** bench/peers/programs. */
  readonly programs: string;
  /** The built command of the sandbox. */
  readonly sandbox: string;
  readonly node: string;
  readonly port: number;
  /** Another free port, for a peer that needs two. */
  readonly spare: number;
}

/** How to start a peer. */
export interface Start {
  readonly program: string;
  readonly argv: readonly string[];
}

/** A mock server, set up as its own documentation says for this job. */
export interface Peer {
  /** The name that `--only` takes. */
  readonly name: string;
  readonly title: string;
  /** What sets its figures apart in the tables, in a few words. */
  readonly caveat?: string;
  /** Its packages in bench/peers/package.json, the one that gives the version first; none for the sandbox. */
  readonly packages: readonly string[];
  /** How it was set up and what it cannot do: Markdown, one or two sentences. */
  readonly setUp: string;
  /** Its files for the job, by their paths in the folder. */
  readonly files: (job: Job, port: number) => Readonly<Record<string, string>>;
  readonly start: (place: Place, job: Job) => Start;
  /** The header line that each request needs besides the key, where it cannot choose by the key. */
  readonly headerLine?: (exchange: Exchange) => string;
}
