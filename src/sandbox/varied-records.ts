import type { KeyLimits } from "../rules/key-record.js";
import type { Organization } from "../rules/organization.js";
import { type ProfileSettings, profileInEffect } from "./profile.js";
import type { VariedPoint } from "./run-trace.js";
import { type RowOfVariants, variantOn } from "./variants.js";

// What the profile `varied` adds to the records of keys and organizations, so that responses and lists agree (R4). Each row
// has one variant in all records of a sandbox.
//
// Endings of names and granted scopes come and go with the profile. `with…` adds them to a record when a sandbox starts or its
// profile changes. `without…` takes them off with the same settings, for a snapshot and before another profile. So a scenario
// cannot have written them: a name's ending is cut by its length, and the scopes are in no document.
//
// Higher limits are for keys of a scenario, at the start. They stay when the profile changes, because a key could have reached
// a lower limit already; a snapshot has them as limits of its own.

/** A row of records, like those of the variation table. */
type RecordRow<Added> = RowOfVariants<AddingVariant<Added>>;

/** A variant that adds something to records: to a name, a suffix. */
interface AddingVariant<Added> {
  readonly id: string;
  readonly added: Added;
}

/** By how much the limits are higher that a scenario leaves open for a key. None is lower, which would reject requests. */
const limitsRow = recordRow<KeyLimits>(
  "key.limits",
  { perMinute: 0, perDay: 0 },
  {
    some: { perMinute: 15, perDay: 250 },
    half: { perMinute: 30, perDay: 500 },
    twice: { perMinute: 60, perDay: 1000 },
    beyond_16_bits: { perMinute: 0, perDay: 99_000 },
  },
);

/** Endings of names: accents, decomposed letters, other scripts, characters beyond 16 bits, markup, extra length. */
const suffixRow = recordRow("organization.name_ending", "", {
  accents: " – Société Générale d’Épargne & Fils",
  decomposed: " Cafe\u0301 A\u030angstro\u0308m",
  other_scripts: " بنك الحصاد 收穫銀行",
  beyond_16_bits: " 🌾👩🏽‍🌾 𝒢𝓇𝒶𝒾𝓃",
  markup: " <b>\"Grain\" \\ 'Co'</b> & {{sons}} %s",
  long: ` ${"of the United Valleys ".repeat(12).trim()}`,
});

/** Undocumented scopes: a new endpoint adds one, and generations of endpoints spell theirs differently. */
const scopesRow = recordRow<readonly string[]>("key.granted_scopes", [], {
  one: ["parcels:read"],
  several: ["attestations:read:self", "webhooks:manage", "consents.export"],
});

/** A row whose first variant, `none`, adds `nothing`. `additions`: what each other variant adds, by its id. */
function recordRow<Added>(
  id: string,
  nothing: Added,
  additions: Readonly<Record<string, Added>>,
): RecordRow<Added> {
  const variants = Object.entries(additions).map(([variant, added]) => ({ id: variant, added }));
  return { id, variants: [{ id: "none", added: nothing }, ...variants] };
}

/** The variant that a row has in the records of a sandbox, which only 200s show. */
function variantInRecords<Added>(
  { seed, run }: ProfileSettings,
  row: RecordRow<Added>,
): AddingVariant<Added> {
  return variantOn(200, row, { seed, rows: run?.rows });
}

/** What varies in the records of a sandbox with the profile `varied`, which its 200s show. */
export function variedRecords(settings: ProfileSettings): VariedPoint[] {
  const rows: RecordRow<unknown>[] = [limitsRow, suffixRow];
  if (mayGrantScopes(settings)) rows.push(scopesRow);

  const points: VariedPoint[] = [];
  for (const row of rows) {
    const variant = variantInRecords(settings, row);
    points.push({ row: row.id, variant: variant.id, status: 200 });
  }
  return points;
}

/** By how much the profile `varied` raises limits that a scenario leaves open. */
export function addedLimits(settings: ProfileSettings): KeyLimits {
  return variantInRecords(settings, limitsRow).added;
}

/** The organization as responses show it. */
export function withNameSuffix(settings: ProfileSettings, organization: Organization): Organization {
  const suffix = nameSuffix(settings);
  if (suffix === "") return organization;
  return { ...organization, name: organization.name + suffix };
}

/** The organization as its scenario names it. */
export function withoutNameSuffix(settings: ProfileSettings, organization: Organization): Organization {
  const { name } = organization;
  const length = name.length - nameSuffix(settings).length;
  return { ...organization, name: name.slice(0, length) };
}

/** The profile's suffix for the names of organizations; empty in most profiles. */
function nameSuffix(settings: ProfileSettings): string {
  if (profileInEffect(settings) !== "varied") return "";
  return variantInRecords(settings, suffixRow).added;
}

/** The scopes of a key as responses show them: its own, and those that the profile grants. */
export function withGrantedScopes(settings: ProfileSettings, scopes: readonly string[]): readonly string[] {
  const granted = grantedScopes(settings);
  return granted.length === 0 ? scopes : [...scopes, ...granted];
}

/** The scopes of a key as its scenario has them. */
export function withoutGrantedScopes(
  settings: ProfileSettings,
  scopes: readonly string[],
): readonly string[] {
  const granted = grantedScopes(settings);
  return granted.length === 0 ? scopes : scopes.filter((scope) => !granted.includes(scope));
}

/** The scopes that the profile grants to each key. None that an endpoint needs: a key that has to be rejected would pass. */
export function grantedScopes(settings: ProfileSettings): readonly string[] {
  if (!mayGrantScopes(settings)) return [];
  const { added } = variantInRecords(settings, scopesRow);
  return added.filter((scope) => settings.endpoints.every((endpoint) => endpoint.scope !== scope));
}

/** Whether the profile grants scopes, with most seeds. */
function mayGrantScopes(settings: ProfileSettings): boolean {
  return profileInEffect(settings) === "varied" && settings.ownAssumptions.scopes === undefined;
}
