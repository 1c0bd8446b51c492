import type { ApiPathId, FaultPathId } from "./outcomes.js";
import { mix32 } from "./seed.js";

/** The requests that a fault matches: every given condition must be true. */
export interface FaultCondition {
  readonly key?: string;
  readonly organization?: string;
  /** The path id of the request without the fault. */
  readonly pathId?: ApiPathId;
  /** Since this instant (epoch milliseconds). */
  readonly after?: number;
  /** Before this instant (epoch milliseconds). */
  readonly until?: number;
  /** Every nth matching request. */
  readonly every?: number;
  /** The numbers of the matching requests, counted from 1. */
  readonly requests?: readonly number[];
  /** From 0 (never) to 1 (always). */
  readonly probability?: number;
}

/** The effects of a fault; {@link faultPathOf} names the most drastic one. */
export interface FaultEffect {
  /** Milliseconds of real time. */
  readonly latency?: { readonly min: number; readonly max: number };
  readonly status?: FailureStatus;
  readonly html?: boolean;
  readonly reset?: boolean;
  readonly hang?: boolean;
  readonly truncate?: boolean;
  readonly malformed?: boolean;
  /** Bytes of the body per second. */
  readonly slow?: number;
}

export interface FaultFacts {
  /** The ref of the key, if the sandbox has it. */
  readonly key: string | undefined;
  readonly organization: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The path id of the request without a fault; computed only if needed. */
  readonly expectedPath: () => ApiPathId;
}

/** The failures of a service or a gateway in front of it, with their error bodies. */
export const failures = {
  500: { reason: "Internal Server Error", code: "internal_error", message: "The service failed to respond." },
  501: { reason: "Not Implemented", code: "not_implemented", message: "The service cannot do this." },
  502: {
    reason: "Bad Gateway",
    code: "bad_gateway",
    message: "The gateway got no valid response from the service.",
  },
  503: {
    reason: "Service Unavailable",
    code: "service_unavailable",
    message: "The service is not available at the moment.",
  },
  504: {
    reason: "Gateway Timeout",
    code: "gateway_timeout",
    message: "The gateway got no response from the service in time.",
  },
} as const;

export type FailureStatus = keyof typeof failures;

/** Whether a request matches. {@link fires} decides whether the fault then fires. */
export function matches(when: FaultCondition, facts: FaultFacts): boolean {
  return (
    (when.key === undefined || when.key === facts.key) &&
    (when.organization === undefined || when.organization === facts.organization) &&
    (when.after === undefined || facts.now >= when.after) &&
    (when.until === undefined || facts.now < when.until) &&
    (when.pathId === undefined || when.pathId === facts.expectedPath())
  );
}

/** Whether the fault fires on the `nth` matching request; `chance` is random, from 0 to less than 1. */
export function fires(
  { every, requests, probability }: FaultCondition,
  nth: number,
  chance: number,
): boolean {
  return (
    (every === undefined || nth % every === 0) &&
    (requests === undefined || requests.includes(nth)) &&
    (probability === undefined || chance < probability)
  );
}

/** A number from 0 to less than 1 that depends only on the salt and the number of the request. */
export function chanceOf(salt: number, requestNumber: number): number {
  return mix32(requestNumber ^ salt) / 4_294_967_296;
}

/** The path id of a fault: its most drastic effect. */
export function faultPathOf({ reset, hang, truncate, malformed, status, slow }: FaultEffect): FaultPathId {
  if (reset) return "fault.reset";
  if (hang) return "fault.hang";
  if (truncate) return "fault.truncate";
  if (malformed) return "fault.malformed";
  if (status !== undefined) return "fault.status";
  return slow === undefined ? "fault.latency" : "fault.slow";
}

/** Whether the request still gets its complete response and is counted, only later. */
export function onlyDelays(effect: FaultEffect): boolean {
  const path = faultPathOf(effect);
  return path === "fault.latency" || path === "fault.slow";
}
