import type { Profile } from "../rules/assumptions.js";
import type { ApiCall } from "./api-call.js";
import type { FaultFacts, FiredFault } from "./fire-faults.js";
import type { CallResult } from "./journal/call-result.js";
import type { SandboxState } from "./sandbox-state.js";
import type { VariantRules } from "./variants.js";

/**
 * The conditions of a client's run of `exec` or `certify`, which come before the state of its sandboxes. They are applied in
 * `src/runs`; this is all that a sandbox knows of them.
 */
export interface ConditionedRun {
  /** The profile of all sandboxes. Default: each one's own. */
  readonly profile?: Profile | undefined;
  /** The start of clocks that neither their options nor their scenario set (epoch milliseconds). Default: the wall clock. */
  readonly clockStart?: number | undefined;
  /** The only rows that vary in the profile `varied`. Default: all. */
  readonly rows?: VariantRules["rows"];
  /**
   * Tells by how many variants a response with a status shifts each row: of the variants a, b and c, where the seed chooses b, 1
   * makes it c. It is called once for each response. A run that gives each response other variants than the one before it counts
   * the responses here, except those to a story; any other run returns 0.
   */
  readonly takeVariantShift: (call: ApiCall, status: number) => number;
  /** Whether its responses hide where a request ended: there is no advice on them. */
  readonly hidesOutcomes: boolean;
  /** What a client's call gets: what it would get without a run, or something in its place. */
  readonly intercept: (sandbox: SandboxState, call: ApiCall, ownResponse: OwnResponse) => CallResult;
}

/** What a call gets if its run puts nothing in place of it. */
export interface OwnResponse {
  /** What faults see of the call. */
  readonly facts: FaultFacts;
  /** The sandbox's own fault that is due. The faults have counted the request already. */
  readonly fault: FiredFault | undefined;
  /** Responds as the checks decide, or with this fault. Counts the request for the limits of its key, unless the fault replaces the response (R24). */
  readonly respond: () => CallResult;
}
