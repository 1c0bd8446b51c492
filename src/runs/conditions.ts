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

export interface OnRequest {
  readonly which: WhichRequest;
  readonly gets: Replacement;
}

/** Which request it is, over all processes: by where it would end, or the nth one with a key, from 1, of those that would be accepted. */
export type WhichRequest =
  | { readonly kind: "first" | "each"; readonly outcome: OutcomeId }
  | { readonly kind: "nth"; readonly key: string; readonly nth: number };

/** `wrong_answer`: a 401 for a key that works, and a 200 for any other. `late`: its own response, after so many seconds. */
export type Replacement =
  | { readonly kind: "fault"; readonly effect: Faults[number]["then"] }
  | { readonly kind: "wrong_answer" }
  | { readonly kind: "late"; readonly seconds: number }
  | RejectionOfRun;

/** Another outcome, or a 503. Without seconds, it has no `Retry-After`, and a 429 lasts until the minute ends. */
export interface RejectionOfRun {
  readonly kind: "rejection";
  readonly as: ApiOutcomeId | "fault.status";
  readonly seconds?: number;
  readonly asDate?: boolean;
}

/** Whether a request gets what no service should send: its response then tells nothing about the request. */
export function isAnsweredWrongly({ onRequest }: RunConditions): boolean {
  return onRequest !== undefined && onRequest.gets.kind !== "fault";
}
