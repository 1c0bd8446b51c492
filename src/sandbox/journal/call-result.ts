import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import type { OutcomeId } from "../../rules/outcomes.js";
import type { VariedPoint } from "../variants.js";

export interface ApiResponse {
  readonly status: number;
  /** Names and values in turn, `Content-Length` included. */
  readonly headers: readonly string[];
  /** Empty for HEAD. */
  readonly body: string;
}

/** How both adapters, `sendFaulty` and `deliverOverWeb`, deliver a response that a fault changed; plain data. */
export interface Delivery {
  /** Milliseconds of real time before anything happens. */
  readonly delayMs: number;
  /** Send the response, reset the connection, or send nothing until the client gives up. */
  readonly kind: "send" | "reset" | "hang";
  /** Whether a client that waits gets the whole response, and a usual one. If so, one that gives up has left it unread. */
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
  /** The error code in the response; `null` if it has none. */
  readonly code: string | null;
  /** The fault that affected the call. Default: none. */
  readonly fault?: FaultOutcomeId;
  /** How a fault has the response delivered. Default: at once, and whole. */
  readonly delivery?: Delivery;
  /** Epoch milliseconds of its header `Date`. Default: the sandbox's clock. */
  readonly date?: number | undefined;
  /** The request id in its response. Default: the call's. */
  readonly requestId?: string;
  /** What varied in the response, for a run of a client. */
  readonly points?: readonly VariedPoint[];
  /** What a run of a client keeps of the call. Only the run reads it. */
  readonly trace?: object;
}
