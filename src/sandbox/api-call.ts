import type { Assumptions } from "../rules/assumptions.js";
import type { Presented } from "../rules/authorize.js";
import type { ApiRequest } from "../rules/request.js";
import type { Endpoint } from "./endpoint.js";
import type { KeyEntry } from "./registry.js";

/** A request with everything that its checks, its response and its advice need; read once, so that they agree. The journal keeps none of it. */
export interface ApiCall {
  readonly request: ApiRequest;
  /** `undefined` if the API does not have the path. */
  readonly route:
    | {
        /** A name in braces matches any segment. */
        readonly path: string;
        readonly segments: readonly string[];
        readonly isPattern: boolean;
        readonly methods: ReadonlyMap<string, Endpoint>;
        readonly allow: string;
      }
    | undefined;
  readonly endpoint: Endpoint | undefined;
  readonly started: number;
  readonly now: number;
  readonly presented: Presented;
  readonly sha256: string;
  readonly entry: KeyEntry | undefined;
  /** The number of the request in its series of ids. */
  readonly number: number;
  /** The request id, even if the response does not have it. */
  readonly id: string;
  readonly assumptions: Assumptions;
}
