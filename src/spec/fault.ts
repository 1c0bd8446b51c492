import type { ApiPathId } from "./outcomes.js";
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

export interface FaultFacts {
  /** The ref of the key, if the sandbox has it. */
  readonly key: string | undefined;
  readonly organization: string | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
  /** The path id of the request without a fault; computed only if needed. */
  readonly expectedPath: () => ApiPathId;
}

/** Whether a request matches. {@link fires} decides whether the fault then fires. */
export function meetsCondition(when: FaultCondition, facts: FaultFacts): boolean {
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
