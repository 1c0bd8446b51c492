import type { Profile } from "../rules/assumptions.js";
import type { FaultFacts, FiredFault } from "./active-faults.js";
import type { ApiCall } from "./api-call.js";
import type { CallResult } from "./journal/exchange.js";
import type { SandboxState } from "./sandbox-state.js";
import type { VariantRules } from "./variants.js";

// A client's run of `exec` or `certify` may have conditions, which come before the state of its sandboxes. This is all that a
// sandbox knows of them.

/** The conditions of a client's run at work in its sandboxes. */
export interface ConditionedRun {
  /** The profile of all sandboxes. Default: each one's own. */
  readonly profile?: Profile | undefined;
  /** The start of clocks that neither their options nor their scenario set (epoch milliseconds). Default: the wall clock. */
  readonly start?: number | undefined;
  /** The only rows that vary. Default: all. */
  readonly rows?: VariantRules["rows"];
  /** How many variants after that of the seed each row has, in the response to a call with this status. Counts the response. */
  readonly nextShift: (call: ApiCall, status: number) => number;
  /** Whether its responses hide where a request ended: there is no advice on them. */
  readonly hidesOutcomes: boolean;
  /** What a client's call gets: the result of `own.respond`, or something in its place. */
  readonly intercept: (sandbox: SandboxState, call: ApiCall, own: WithoutRun) => CallResult;
}

/** What a sandbox would do with a call if there was no run. */
export interface WithoutRun {
  /** What faults see of the call. */
  readonly facts: FaultFacts;
  /** The sandbox's own fault that is due; it has counted the request. */
  readonly fault: FiredFault | undefined;
  /** Responds with this fault, or as the checks decide. Counts the request, unless a fault replaces the response (R24). */
  readonly respond: () => CallResult;
}
