import { type Assumptions, assumptionsFor, type Profile } from "../rules/assumptions.js";
import type { ApiPathId, PathId } from "../rules/outcomes.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/**
 * The conditions of a client's run. They come before the state of its sandboxes, and no call of the client reads, replaces
 * or clears them. Plain data: they also reach the sandboxes of other processes.
 */
export interface RunConditions {
  readonly profile?: Profile;
  readonly assumptions?: Partial<Assumptions>;
  /** Faults that come before the sandbox's own; each start of a scenario counts its requests again. */
  readonly faults?: NonNullable<Scenario["faults"]>;
  /** The only points that vary. Default: all that the seed or the profile chooses. */
  readonly points?: readonly VariedPoint[];
  /** Whether the points vary on every response that they fit, and not only where the seed has them. */
  readonly isEverywhere?: boolean;
  /** The id of a broken promise. No request causes advice then, as with an experiment. */
  readonly promise?: string;
  readonly experiment?: Experiment;
}

/** A variant of a row of the variation table, on the responses of one status. */
export interface VariedPoint {
  readonly row: string;
  readonly variant: string;
  readonly status: number;
}

/** What happens to a key of one sandbox from its `last` request of the baseline on. */
export interface Experiment {
  readonly id: ExperimentId;
  readonly key: string;
  /** The number of sandboxes with an earlier first request with this key. A reset starts another sandbox. */
  readonly nth: number;
  readonly last: number;
  readonly pathId: ApiPathId;
  /** Of the 429 or 503 with this header. */
  readonly retryAfter?: number;
}

/** `control`: a key that is always rejected is accepted in its last request, to find runners that repeat failing tests. */
export type ExperimentId =
  | "401"
  | "403"
  | "429 with Retry-After"
  | "429 with a date"
  | "429 without Retry-After"
  | "503 with Retry-After"
  | "503 with a date"
  | "outage"
  | "control";

/** The part of a sandbox that decides its profile and its assumptions. */
export interface Profiled {
  readonly seed: number;
  readonly profile: Profile;
  readonly givenAssumptions: Partial<Assumptions>;
  readonly platform: {
    readonly run?: { readonly conditions: RunConditions; readonly choose: ChooseVariant } | undefined;
  };
}

/** The profile in effect: the run's before the sandbox's own. */
export function profileOf({ platform, profile }: Pick<Profiled, "platform" | "profile">): Profile {
  return platform.run?.conditions.profile ?? profile;
}

/** The assumptions in effect that no profile decides: the run's before the sandbox's own. */
export function fixedAssumptions({
  platform,
  givenAssumptions,
}: Omit<Profiled, "seed">): Partial<Assumptions> {
  const ofRun = platform.run?.conditions.assumptions;
  return ofRun === undefined ? givenAssumptions : { ...givenAssumptions, ...ofRun };
}

export function assumptionsIn(
  sandbox: Omit<Profiled, "seed">,
  endpoints: Parameters<typeof assumptionsFor>[2],
): Assumptions {
  return assumptionsFor(profileOf(sandbox), fixedAssumptions(sandbox), endpoints);
}

/** Returns the variant of a row for responses with a status; `usual` is the choice of the seed or the profile. */
export type ChooseVariant = (row: string, usual: string, status: number) => string;

/** What the conditions of a run show with one request of a client. */
export interface Observation {
  /** The place of its sandbox among those that got the key; see {@link Experiment}. */
  readonly nth: number;
  /** The points that no earlier request showed. */
  readonly points: readonly VariedPoint[];
  /** Where the request would have ended without the fault, promise or experiment of the run that hit it. */
  readonly hit?: PathId | undefined;
  /** The seed that the client's own code sets in place of the run's, and where. */
  readonly pinned?: { readonly seed: number; readonly place?: string | undefined } | undefined;
  /** The name of its sandbox's scenario. */
  readonly scenario: string;
  /** The assumptions that its sandbox sets, and that the run would vary. */
  readonly unvaried: readonly (keyof Assumptions)[];
  /** Milliseconds since the first request of the experiment; left out for other requests. */
  readonly tried?: number | undefined;
}
