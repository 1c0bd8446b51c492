import type { Assumptions } from "../rules/assumptions.js";
import type { FaultOutcomeId } from "../rules/fault-effects.js";
import type { PresentedKind } from "../rules/keys/key-text.js";
import {
  type ApiOutcomeId,
  isSuccess,
  type OutcomeId,
  outcomes,
  type successStatuses,
} from "../rules/outcomes.js";
import type { ApiRequest } from "../rules/request.js";
import type { Shape } from "../schema/shape.js";
import type { RecordAdditions } from "./record-additions.js";
import type { KeyEntry } from "./registry.js";
import type { VariedPoint } from "./variants.js";

// A call on its way: the endpoint that it is for and its route, the call itself, and its result.

export interface Endpoint {
  readonly method: string;
  /** The exact path; a segment in braces matches any segment: `/things/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly status: (typeof successStatuses)[number];
  /**
   * Whether this is `/me`, whose body shows the key. Its success has an outcome for each kind of key, such as `200.live` and
   * `200.legacy`. The success of any other endpoint has one outcome, such as `200.listThings`. Default: false.
   */
  readonly isMe?: true;
  /** The scope that it requires, or `null` for none. Default: the assumption `me_scope`. */
  readonly scope?: string | null;
  readonly summary: string;
  readonly hasBody: boolean;
  /** The body of its success for a key, with what the sandbox adds to records; empty without a body. Dry runs call it, too: it changes nothing. */
  readonly respond: (entry: KeyEntry, additions: RecordAdditions) => TextBody;
  readonly example: () => TextBody;
}

export interface ReleasedEndpoint extends Endpoint {
  readonly description: string;
  /** The shape of a success body, with its name in the description, and an example. */
  readonly responseName: string;
  readonly responseShape: Shape;
  readonly responseExample: unknown;
}

export interface TextBody {
  readonly text: string;
  /** Its length in UTF-8. */
  readonly bytes: number;
}

/** The one outcome of a success of an endpoint other than `/me`: `200.listThings`. */
export function ownSuccessOf({ status, operationId }: Endpoint): ApiOutcomeId {
  return `${status}.${operationId}` as const;
}

/** All outcomes that a success of an endpoint can have: more than one only for `/me`. */
export function successOutcomesOf(endpoint: Endpoint): readonly OutcomeId[] {
  if (!endpoint.isMe) return [ownSuccessOf(endpoint)];
  return outcomes.map(({ id }) => id).filter(isSuccess);
}

export interface ApiRoute {
  readonly path: string;
  readonly segments: readonly string[];
  readonly isPattern: boolean;
  readonly methods: ReadonlyMap<string, Endpoint>;
  /** The value of the header `Allow` of a 405. */
  readonly allow: string;
}

export interface Routes {
  /** Those without parameters, by path. */
  readonly exact: ReadonlyMap<string, ApiRoute>;
  /** The other ones, the most exact first: the first that matches is meant. */
  readonly patterns: readonly ApiRoute[];
}

/** All of a call that decides its outcome: who calls, when, and the route that the call takes. A predicted request has no more. */
export interface RoutedCall {
  readonly presented: PresentedKind;
  readonly entry: KeyEntry | undefined;
  /** When the call came, on the sandbox's clock (epoch milliseconds). */
  readonly now: number;
  /** `undefined` if the API does not have the path (404). */
  readonly route: ApiRoute | undefined;
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
  readonly sha256: string;
  /** The number of the request in its series, from which its id is made: see `RequestIds`. The chances of faults depend on it. */
  readonly number: number;
  readonly id: string;
  readonly assumptions: Assumptions;
  /** What a date in `Retry-After` counts from: in a client's run, the machine's clock, by which many clients wait. Default: `now`. */
  readonly date: number | undefined;
}

export interface ApiResponse {
  readonly status: number;
  /** Names and values in turn, `Content-Length` included. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** How both adapters, `sendFaulty` and `deliverOverWeb`, deliver a response that a fault changed; plain data. */
export interface Delivery {
  readonly latencyMs: number;
  /** Send the response, reset the connection, or send nothing until the client gives up. */
  readonly kind: "send" | "reset" | "hang";
  /** Whether a client that waits gets the whole response: a client that gives up has then left it unread. */
  readonly isWhole: boolean;
  /** Bytes of the body before the connection is closed; `undefined` to send the whole body. */
  readonly cutAfter: number | undefined;
  /** The rate of the body; `undefined` to send it in one piece. */
  readonly bytesPerSecond: number | undefined;
}

/**
 * What a call gets: its outcome, and the response with everything that differs from the usual. A run of a client may still put
 * another result in its place; the exchange has the last one. `Outcome`: fewer outcomes, such as those without a fault.
 */
export interface CallResult<Outcome = OutcomeId> {
  readonly outcome: Outcome;
  readonly response: ApiResponse;
  readonly code: string | null;
  readonly fault?: FaultOutcomeId;
  /** How a fault has the response delivered. Default: at once, and whole. */
  readonly delivery?: Delivery;
  /** Epoch milliseconds of its header `Date`. Default: the sandbox's clock. */
  readonly date?: number | undefined;
  readonly requestId?: string;
  readonly points?: readonly VariedPoint[];
  /** What a run of a client keeps of the call. Only the run reads it. */
  readonly trace?: object;
}
