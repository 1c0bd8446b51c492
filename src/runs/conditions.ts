import type { Profile } from "../rules/assumptions.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import type { RowChoice } from "../sandbox/variants.js";
import type { Scenario } from "../scenario/scenario.generated.js";

type Faults = NonNullable<Scenario["faults"]>;

/**
 * The conditions of a client's run. They come before the state of its sandboxes, and no call of the client reads, replaces
 * or clears them. Plain data: they also reach the sandboxes of other processes.
 */
export interface RunConditions {
  readonly profile?: Profile;
  /** The only rows that vary. Default: all. */
  readonly rows?: readonly RowChoice[];
  /** Whether each response has the next variants, except a 401 (R14) and what records have. Default: all have the same ones. */
  readonly mixed?: true;
  /** Faults that come before the sandbox's own; each start of a scenario counts its requests again. */
  readonly faults?: Faults;
  /** What one request gets, or each one that ends alike. */
  readonly onRequest?: OnRequest;
}

/** What is put in place of the response to a request, and to which one. */
export interface OnRequest {
  readonly which: WhichRequest;
  readonly gets: Replacement;
}

/** Which request it is, over all processes of the run. */
export type WhichRequest =
  /** By where it would end. */
  | { readonly kind: "first" | "each"; readonly outcome: OutcomeId }
  /** The nth one with a key, from 1, of those that the sandbox would accept, at once or after a delay. */
  | { readonly kind: "nth"; readonly key: string; readonly nth: number };

export type Replacement =
  | { readonly kind: "fault"; readonly effect: Faults[number]["then"] }
  /** A 401 for a key that works, and a 200 for any other. */
  | { readonly kind: "wrong_answer" }
  /** Its own response, after so many seconds. */
  | { readonly kind: "late"; readonly seconds: number }
  | RejectionOfRun;

/** Another outcome than its own, or a 503. */
export interface RejectionOfRun {
  readonly kind: "rejection";
  readonly as: ApiOutcomeId | "fault.status";
  /** How long to wait, in `Retry-After`. Without it, there is no such header, and a client may send again when the next minute begins. */
  readonly seconds?: number;
  /** Whether `Retry-After` has a date. Default: it has seconds. */
  readonly asDate?: boolean;
}

/** Whether some requests get another response than the one of their outcome, or get it late: what they get tells nothing about them. */
export function hidesOutcomes({ onRequest }: RunConditions): boolean {
  return onRequest !== undefined && onRequest.gets.kind !== "fault";
}
