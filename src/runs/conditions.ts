import type { Profile } from "../rules/assumptions.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import type { RowChoice } from "../sandbox/variants.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/**
 * The conditions of a client's run. They come before the state of its sandboxes, and no call of the client reads, replaces
 * or clears them. Plain data: they also reach the sandboxes of other processes.
 */
export interface RunConditions {
  readonly profile?: Profile;
  /** Faults that come before the sandbox's own; each start of a scenario counts its requests again. */
  readonly faults?: NonNullable<Scenario["faults"]>;
  /** The outcome whose first request that may be sent again is the only one that these faults hit. Default: all are hit. */
  readonly once?: { readonly outcome: OutcomeId };
  /** The only rows that vary. Default: all. */
  readonly rows?: readonly RowChoice[];
  /** Whether each response has the next variants, except a 401 (R14) and what records have. Default: all have the same ones. */
  readonly mixed?: true;
  /** The outcome whose requests get the wrong answer: a 401 for a key that works, and a 200 for any other. No request causes advice then, as with a refusal. */
  readonly answer?: { readonly outcome: OutcomeId; readonly once?: true };
  readonly refusal?: Refusal;
}

/** Gives one request with a key that its sandboxes would accept another response. */
export interface Refusal {
  /** The ref of the key. */
  readonly key: string;
  /** What it gets: the response of another outcome, a 503, or its own response after so many seconds. */
  readonly as: ApiOutcomeId | "fault.status" | "late";
  /** Which request it is, from 1, of those that are accepted otherwise in all processes. */
  readonly nth: number;
  /** The seconds of its `Retry-After`. Default: none; a 429 then lasts until the minute ends. */
  readonly seconds?: number;
  readonly asDate?: boolean;
}
