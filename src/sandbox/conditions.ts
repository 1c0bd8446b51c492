import type { KeyLimits } from "../rules/api-key.js";
import { type Assumptions, assumptionsFor, type Profile } from "../rules/assumptions.js";
import type { Organization } from "../rules/organization.js";
import type { ApiPathId, PathId } from "../rules/outcomes.js";
import { pick, randomStream } from "../rules/seed.js";
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
type ExperimentId =
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

// What the profile `varied` adds to the records of keys and organizations. It is in the records, so that responses and lists
// agree (R4). A snapshot omits it, because the seed and the ref restore it.

type RecordRow<Value> = Readonly<Record<string, Value>>;

/** Undocumented scopes: a new endpoint adds one, and generations of endpoints spell theirs differently. */
const scopesOfNoDocument: RecordRow<readonly string[]> = {
  none: [],
  one: ["parcels:read"],
  several: ["attestations:read:self", "webhooks:manage", "consents.export"],
};
const allOfNoDocument = new Set(Object.values(scopesOfNoDocument).flat());

function chosen<Value>(
  { seed, platform }: Profiled,
  [id, row]: readonly [id: string, row: RecordRow<Value>],
  ref: string,
): Value {
  const usual = pick(randomStream(seed, id, ref), Object.keys(row));
  return (row[platform.run?.choose(id, usual, 200) ?? usual] ?? Object.values(row)[0]) as Value;
}

/** Adds the scopes that the profile grants to a key; `first` is the ref of the first key of its rotation. */
export function withGrantedScopes(
  profiled: Profiled,
  first: string,
  scopes: readonly string[],
): readonly string[] {
  if (!grantsScopes(profiled)) return scopes;
  const granted = chosen(profiled, ["key.granted_scopes", scopesOfNoDocument], first);
  return granted.length === 0 ? scopes : [...scopes, ...granted];
}

const grantsScopes = (profiled: Profiled) =>
  profileOf(profiled) === "varied" && fixedAssumptions(profiled).scopes === undefined;

export function withoutGrantedScopes(profiled: Profiled, scopes: readonly string[]): readonly string[] {
  if (!grantsScopes(profiled)) return scopes;
  return scopes.filter((scope) => !allOfNoDocument.has(scope));
}

/** By how much the limits of a key are higher that the scenario leaves open. Never lower, which would reject requests. */
const addedLimits: RecordRow<KeyLimits> = {
  none: { perMinute: 0, perDay: 0 },
  some: { perMinute: 15, perDay: 250 },
  half: { perMinute: 30, perDay: 500 },
  twice: { perMinute: 60, perDay: 1000 },
  beyond_16_bits: { perMinute: 0, perDay: 99_000 },
};

/** Returns by how much the profile raises the open limits of a key; `first` is the ref of the first key of its rotation. */
export function addedLimitsOf(profiled: Profiled, first: string): KeyLimits {
  return chosen(profiled, ["key.limits", addedLimits], first);
}

/** Suffixes of names: accents, decomposed letters, other scripts, characters beyond 16 bits, markup, extra length. */
const nameSuffixes: RecordRow<string> = {
  none: "",
  accents: " – Société Générale d’Épargne & Fils",
  decomposed: " Cafe\u0301 A\u030angstro\u0308m",
  other_scripts: " بنك الحصاد 收穫銀行",
  beyond_16_bits: " 🌾👩🏽‍🌾 𝒢𝓇𝒶𝒾𝓃",
  markup: " <b>\"Grain\" \\ 'Co'</b> & {{sons}} %s",
  long: ` ${"of the United Valleys ".repeat(12).trim()}`,
};

export function withNameSuffix(profiled: Profiled, organization: Organization): Organization {
  const suffix = nameSuffixOf(profiled, organization.ref);
  return suffix === "" ? organization : { ...organization, name: organization.name + suffix };
}

/** Returns the profile's suffix for an organization's name; empty in most profiles. */
export function nameSuffixOf(profiled: Profiled, ref: string): string {
  return profileOf(profiled) === "varied"
    ? chosen(profiled, ["organization.name_ending", nameSuffixes], ref)
    : "";
}
