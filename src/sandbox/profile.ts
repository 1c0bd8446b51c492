import type { KeyLimits } from "../rules/api-key.js";
import { type Assumptions, assumptionsFor, type Profile } from "../rules/assumptions.js";
import type { Organization } from "../rules/organization.js";
import type { Endpoint } from "./endpoint.js";
import type { VariedPoint } from "./run-trace.js";
import { chooseVariant, saltOf, type VariantRules } from "./variants.js";

/** The part of a sandbox that decides its profile and its assumptions. */
export interface Profiled {
  readonly seed: number;
  readonly profile: Profile;
  readonly ownAssumptions: Partial<Assumptions>;
  readonly run: { readonly profile?: Profile | undefined; readonly rows?: VariantRules["rows"] } | undefined;
  readonly endpoints: readonly Endpoint[];
}

/** The profile in effect: the run's before the sandbox's own. */
export function profileOf({ run, profile }: Pick<Profiled, "run" | "profile">): Profile {
  return run?.profile ?? profile;
}

export function assumptionsIn(sandbox: Omit<Profiled, "seed">): Assumptions {
  return assumptionsFor(profileOf(sandbox), sandbox.ownAssumptions, sandbox.endpoints);
}

// What `varied` adds to records, so that responses and lists agree (R4). Snapshots omit it: the seed restores it.

type RecordRow<Value> = Readonly<Record<string, Value>>;

/** Undocumented scopes: a new endpoint adds one, and generations of endpoints spell theirs differently. */
const unneededScopes: RecordRow<readonly string[]> = {
  none: [],
  one: ["parcels:read"],
  several: ["attestations:read:self", "webhooks:manage", "consents.export"],
};
const allUnneeded = new Set(Object.values(unneededScopes).flat());

function chosen<Value>(profiled: Profiled, id: string, row: RecordRow<Value>): Value {
  return row[variantOf(profiled, id, row)] as Value;
}

function variantOf({ seed, run }: Profiled, id: string, row: RecordRow<unknown>): string {
  const variants = Object.keys(row);
  const rules = { seed, rows: run?.rows };
  return variants[chooseVariant(rules, { id, salt: saltOf(id) }, 200, variants.length)] as string;
}

/** Adds the scopes that the profile grants to a key. */
export function withGrantedScopes(profiled: Profiled, scopes: readonly string[]): readonly string[] {
  if (!grantsScopes(profiled)) return scopes;
  const granted = chosen(profiled, "key.granted_scopes", unneededScopes).filter(
    (scope) => !isNeeded(profiled, scope),
  );
  return granted.length === 0 ? scopes : [...scopes, ...granted];
}

/** Whether an endpoint needs a scope: the profile grants none of these. */
const isNeeded = ({ endpoints }: Profiled, scope: string) => endpoints.some((one) => one.scope === scope);

const grantsScopes = (profiled: Profiled) =>
  profileOf(profiled) === "varied" && profiled.ownAssumptions.scopes === undefined;

export function withoutGrantedScopes(profiled: Profiled, scopes: readonly string[]): readonly string[] {
  if (!grantsScopes(profiled)) return scopes;
  return scopes.filter((scope) => !allUnneeded.has(scope) || isNeeded(profiled, scope));
}

/** By how much the limits of a key are higher that the scenario leaves open. Never lower, which would reject requests. */
const addedLimits: RecordRow<KeyLimits> = {
  none: { perMinute: 0, perDay: 0 },
  some: { perMinute: 15, perDay: 250 },
  half: { perMinute: 30, perDay: 500 },
  twice: { perMinute: 60, perDay: 1000 },
  beyond_16_bits: { perMinute: 0, perDay: 99_000 },
};

/** Returns by how much the profile raises the open limits of a key. */
export function addedLimitsOf(profiled: Profiled): KeyLimits {
  return chosen(profiled, "key.limits", addedLimits);
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
  const suffix = nameSuffixOf(profiled);
  return suffix === "" ? organization : { ...organization, name: organization.name + suffix };
}

export function withoutNameSuffix(profiled: Profiled, organization: Organization): Organization {
  const { name } = organization;
  return { ...organization, name: name.slice(0, name.length - nameSuffixOf(profiled).length) };
}

/** Returns the profile's suffix for the names of organizations; empty in most profiles. */
function nameSuffixOf(profiled: Profiled): string {
  return profileOf(profiled) === "varied" ? chosen(profiled, "organization.name_ending", nameSuffixes) : "";
}

/** What varies in the records of a sandbox with the profile `varied`, which its 200s show. */
export function variedRecords(profiled: Profiled): VariedPoint[] {
  const rows = {
    "key.limits": addedLimits,
    "organization.name_ending": nameSuffixes,
    ...(grantsScopes(profiled) && { "key.granted_scopes": unneededScopes }),
  };
  return Object.entries(rows).map(([id, row]) => ({
    row: id,
    variant: variantOf(profiled, id, row),
    status: 200,
  }));
}
