import type { KeyLimits } from "../rules/api-key.js";
import { type Assumptions, assumptionsFor, type Profile } from "../rules/assumptions.js";
import type { Organization } from "../rules/organization.js";
import type { ApiPathId, PathId } from "../rules/outcomes.js";
import { randomStream } from "../rules/seed.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { Endpoint } from "./endpoint.js";

/**
 * The conditions of a client's run. They come before the state of its sandboxes, and no call of the client reads, replaces
 * or clears them. Plain data: they also reach the sandboxes of other processes.
 */
export interface RunConditions {
  readonly profile?: Profile;
  /** Faults that come before the sandbox's own; each start of a scenario counts its requests again. */
  readonly faults?: NonNullable<Scenario["faults"]>;
  /** Whether these faults hit one request of the run: the first that ends on this path. Default: with a key that works. */
  readonly once?: { readonly path?: PathId };
  /** The only points that vary. Default: all that the seed chooses. */
  readonly points?: readonly VariedPoint[];
  /** The path whose requests get the wrong response. No request causes advice then, as with a resend. */
  readonly answer?: { readonly path: PathId; readonly once?: true };
  readonly resend?: Resend;
}

/** A variant of a row of the variation table, on the responses of one status. */
export interface VariedPoint {
  readonly row: string;
  readonly variant: string;
  readonly status: number;
}

export const idOfPoint = ({ row, status, variant }: VariedPoint) => `${row} ${status} ${variant}`;

/** What happens to the requests with one key: some are rejected, and the request that must not follow then is accepted. */
export interface Resend {
  /** The ref of the key. */
  readonly key: string;
  /** Where a rejected request ends. */
  readonly path: ApiPathId | "fault.status";
  /** When no other request must follow a rejected one. */
  readonly when: "always" | "too soon" | "hasty";
  /** The seconds of its `Retry-After`. Default: none; a 429 then lasts until the minute ends. */
  readonly seconds?: number;
  readonly asDate?: boolean;
  /** The number of requests with the key that come before; of each sandbox if the next request may come too soon. */
  readonly after: number;
  /** Whether each request is rejected, until the time in `Retry-After` or of the minute. */
  readonly lasts?: true;
}

/** The part of a sandbox that decides its profile and its assumptions. */
export interface Profiled {
  readonly seed: number;
  readonly profile: Profile;
  readonly givenAssumptions: Partial<Assumptions>;
  readonly conditions: { readonly profile?: Profile | undefined; readonly choose: ChooseVariant } | undefined;
  readonly endpoints: readonly Endpoint[];
}

/** The profile in effect: the run's before the sandbox's own. */
export function profileOf({ conditions, profile }: Pick<Profiled, "conditions" | "profile">): Profile {
  return conditions?.profile ?? profile;
}

export function assumptionsIn(sandbox: Omit<Profiled, "seed">): Assumptions {
  return assumptionsFor(profileOf(sandbox), sandbox.givenAssumptions, sandbox.endpoints);
}

/** Returns the variant of a row for responses with a status; `usual` is the choice of the seed or the profile. */
export type ChooseVariant = (row: string, usual: string, status: number) => string;

/** What the conditions of a run show with one request of a client. */
export interface Observation {
  /** What varied in its response. */
  readonly points: readonly VariedPoint[];
  /** Where the request would have ended without the fault, wrong answer or rejection of the run that hit it. */
  readonly hit?: PathId | undefined;
  /** Whether it was accepted although it must not follow. Default: false. */
  readonly isRewarded?: boolean;
  /** The seed that the client's own code sets in place of the run's, and where. */
  readonly pinned?: { readonly seed: number; readonly place?: string | undefined } | undefined;
  /** The name of its sandbox's scenario. */
  readonly scenario: string;
  /** The assumptions that its sandbox sets, and that the run would vary. */
  readonly unvaried: readonly (keyof Assumptions)[];
}

// What `varied` adds to records, so that responses and lists agree (R4). Snapshots omit it: the seed and the ref restore it.

type RecordRow<Value> = Readonly<Record<string, Value>>;

/** Undocumented scopes: a new endpoint adds one, and generations of endpoints spell theirs differently. */
const scopesOfNoDocument: RecordRow<readonly string[]> = {
  none: [],
  one: ["parcels:read"],
  several: ["attestations:read:self", "webhooks:manage", "consents.export"],
};
const allOfNoDocument = new Set(Object.values(scopesOfNoDocument).flat());

function chosen<Value>(
  { seed, conditions }: Profiled,
  [id, row]: readonly [id: string, row: RecordRow<Value>],
  ref: string,
): Value {
  const variants = Object.keys(row);
  // As with responses, eight seeds in a row show every variant.
  const offset = randomStream(0, id, ref)();
  const usual = variants[((seed % variants.length) + (offset % variants.length)) % variants.length] as string;
  return (row[conditions?.choose(id, usual, 200) ?? usual] ?? Object.values(row)[0]) as Value;
}

/** Adds the scopes that the profile grants to a key; `first` is the ref of the first key of its rotation. */
export function withGrantedScopes(
  profiled: Profiled,
  first: string,
  scopes: readonly string[],
): readonly string[] {
  if (!grantsScopes(profiled)) return scopes;
  const granted = chosen(profiled, ["key.granted_scopes", scopesOfNoDocument], first).filter(
    (scope) => !isNeeded(profiled, scope),
  );
  return granted.length === 0 ? scopes : [...scopes, ...granted];
}

/** Whether an endpoint needs a scope: the profile grants none of these. */
const isNeeded = ({ endpoints }: Profiled, scope: string) => endpoints.some((one) => one.scope === scope);

const grantsScopes = (profiled: Profiled) =>
  profileOf(profiled) === "varied" && profiled.givenAssumptions.scopes === undefined;

export function withoutGrantedScopes(profiled: Profiled, scopes: readonly string[]): readonly string[] {
  if (!grantsScopes(profiled)) return scopes;
  return scopes.filter((scope) => !allOfNoDocument.has(scope) || isNeeded(profiled, scope));
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
