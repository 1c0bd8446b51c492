import type { Assumptions } from "../rules/assumptions.js";
import type { Presented } from "../rules/authorize.js";
import type { ApiRequest } from "../rules/request.js";
import type { Endpoint } from "./endpoint.js";
import type { KeyEntry } from "./registry.js";

/** A path of the API, with its endpoints. */
export interface ApiRoute {
  /** A name in braces matches any segment: `/things/{id}`. */
  readonly path: string;
  /** The path's parts between slashes. */
  readonly segments: readonly string[];
  /** Whether a segment is a name in braces. */
  readonly isPattern: boolean;
  readonly methods: ReadonlyMap<string, Endpoint>;
  /** The value of the header `Allow` of a 405. */
  readonly allow: string;
}

/** A request with everything that its checks, its response and its advice need; read once, so that they agree. The journal keeps none of it. */
export interface ApiCall {
  readonly request: ApiRequest;
  /** `undefined` if the API does not have the path (404). */
  readonly route: ApiRoute | undefined;
  /** `undefined` also if the path does not have the method (405). */
  readonly endpoint: Endpoint | undefined;
  /** When it came, on the platform's stopwatch. */
  readonly started: number;
  /** When it came, on the sandbox's clock (epoch milliseconds). */
  readonly now: number;
  readonly presented: Presented;
  /** The hash of the presented key; empty without one. */
  readonly sha256: string;
  /** The presented key, if the sandbox has it. */
  readonly entry: KeyEntry | undefined;
  /** The number of the request in its series of ids. */
  readonly number: number;
  /** The request id, even if the response does not have it. */
  readonly id: string;
  readonly assumptions: Assumptions;
}
