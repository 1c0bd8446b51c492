import type { ApiPathId, FaultPathId } from "./outcomes.js";
import { mix32 } from "./seed.js";

/** The requests that a fault matches; all given conditions must hold. */
export interface FaultCondition {
  /** The ref of the key. */
  readonly key?: string;
  /** The ref of the key's organization. */
  readonly organization?: string;
  /** The path on which the request would end without the fault. */
  readonly pathId?: ApiPathId;
  /** Epoch milliseconds: from this instant on. */
  readonly after?: number;
  /** Epoch milliseconds: before this instant. */
  readonly until?: number;
  /** Every nth matching request. */
  readonly every?: number;
  /** The numbers of the matching requests, counted from 1. */
  readonly requests?: readonly number[];
  /** From 0, never, to 1, always. */
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

/** The facts of a request that faults match. */
export interface FaultFacts {
  /** The ref of the key, when it is one of this world. */
  readonly key: string | undefined;
  readonly organization: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The path on which the request would end; asked only where it matters. */
  readonly expectedPath: () => ApiPathId;
}

/** The failures of a service or a gateway in front of it, with their error bodies. */
export const failures = {
  500: { reason: "Internal Server Error", code: "internal_error", message: "The service failed to answer." },
  501: { reason: "Not Implemented", code: "not_implemented", message: "The service cannot do this." },
  502: {
    reason: "Bad Gateway",
    code: "bad_gateway",
    message: "The gateway got no valid answer from the service.",
  },
  503: {
    reason: "Service Unavailable",
    code: "service_unavailable",
    message: "The service is not available at the moment.",
  },
  504: {
    reason: "Gateway Timeout",
    code: "gateway_timeout",
    message: "The gateway got no answer from the service in time.",
  },
} as const;

export type FailureStatus = keyof typeof failures;

/** Whether a request matches; which of the matching ones the fault fires on is for {@link fires}. */
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

/** A number from 0 to less than 1 that depends on the salt and the number of the request alone. */
export function chanceOf(salt: number, requestNumber: number): number {
  return mix32(requestNumber ^ salt) / 4_294_967_296;
}

/** The path of a fault, named by its most drastic effect. */
export function faultPathOf({ reset, hang, truncate, malformed, status, slow }: FaultEffect): FaultPathId {
  if (reset) return "fault.reset";
  if (hang) return "fault.hang";
  if (truncate) return "fault.truncate";
  if (malformed) return "fault.malformed";
  if (status !== undefined) return "fault.status";
  return slow === undefined ? "fault.latency" : "fault.slow";
}

/** Whether the request still gets its own answer, whole and counted, only later. */
export function onlyDelays(effect: FaultEffect): boolean {
  const path = faultPathOf(effect);
  return path === "fault.latency" || path === "fault.slow";
}
