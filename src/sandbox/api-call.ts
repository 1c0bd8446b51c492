import type { Assumptions } from "../rules/assumptions.js";
import type { PresentedKind } from "../rules/keys/key-text.js";
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

/** All of a call that decides its outcome: who calls, when, and the route that the call takes. A predicted request has no more. */
export interface RoutedCall {
  readonly presented: PresentedKind;
  /** The presented key, if the sandbox has it. */
  readonly entry: KeyEntry | undefined;
  /** When the call came, on the sandbox's clock (epoch milliseconds). */
  readonly now: number;
  /** `undefined` if the API does not have the path (404). */
  readonly route: ApiRoute | undefined;
  /** `undefined` also if the path does not have the method (405). */
  readonly endpoint: Endpoint | undefined;
}

/**
 * A request in its sandbox: with everything that its checks, its response and its advice need; read once, so that they agree.
 * Not an `ApiRequest`, which knows no sandbox, nor an `Exchange`: the journal keeps no entry of a key.
 */
export interface ApiCall extends RoutedCall {
  readonly request: ApiRequest;
  /** When it came, on the platform's stopwatch. */
  readonly started: number;
  /** The hash of the presented key; empty without one. */
  readonly sha256: string;
  /** The number of the request, from which its id is made. See `RequestIds`. */
  readonly number: number;
  /** The request id, even if the response does not have it. */
  readonly id: string;
  readonly assumptions: Assumptions;
}
