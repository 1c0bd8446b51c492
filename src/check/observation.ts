import type { PathId } from "../domain/outcomes.js";
import type { CheckedRule } from "./checked-rules.js";

/** Where an answer is not what the contract says. */
export interface Difference {
  readonly rules: readonly CheckedRule[];
  readonly pathId: PathId;
  /** `status`, `connection`, `body`, the name of a header, or the JSON path of a member: `$.data.limits.per_day`. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
  /** The request id of the answer, to be quoted to support. */
  readonly requestId?: string;
}

/** One thing that was looked at: rules that an answer was held against, and where it differed, if it did. */
export interface Observation {
  readonly rules: readonly CheckedRule[];
  readonly pathId: PathId;
  readonly difference?: Difference;
}

/** An answer that keeps these rules. */
export function agreement(pathId: PathId, ...rules: CheckedRule[]): Observation {
  return { rules, pathId };
}

/** An answer that breaks these rules. */
export function disagreement(difference: Difference): Observation {
  return { rules: difference.rules, pathId: difference.pathId, difference };
}
