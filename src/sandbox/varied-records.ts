import type { KeyLimits } from "../rules/api-key.js";
import type { Organization } from "../rules/organization.js";
import { type ProfileSettings, profileOf } from "./profile.js";
import type { VariedPoint } from "./run-trace.js";
import { type RowOfVariants, variantOn } from "./variants.js";

// What `varied` adds to records, so that responses and lists agree (R4). Snapshots omit it: the seed restores it.

/** A row of records, like those of the variation table. */
type RecordRow<Value> = RowOfVariants<{ readonly id: string; readonly adds: Value }>;

function recordRow<Value>(id: string, none: Value, added: Readonly<Record<string, Value>>): RecordRow<Value> {
  const variants = Object.entries(added).map(([variant, adds]) => ({ id: variant, adds }));
  return { id, variants: [{ id: "none", adds: none }, ...variants] };
}

/** By how much the limits of a key are higher that the scenario leaves open. Never lower, which would reject requests. */
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

/** Suffixes of names: accents, decomposed letters, other scripts, characters beyond 16 bits, markup, extra length. */
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
const allUndocumented = new Set(scopesRow.variants.flatMap(({ adds }) => adds));

/** The variant that a row has in the records of a sandbox, which only 200s show. */
function variantIn<Value>({ seed, run }: ProfileSettings, row: RecordRow<Value>) {
  return variantOn(200, row, { seed, rows: run?.rows });
}

/** What varies in the records of a sandbox with the profile `varied`, which its 200s show. */
export function variedRecords(sandbox: ProfileSettings): VariedPoint[] {
  const rows: RecordRow<unknown>[] = [limitsRow, suffixRow];
  if (grantsScopes(sandbox)) rows.push(scopesRow);

  const points: VariedPoint[] = [];
  for (const row of rows) {
    const variant = variantIn(sandbox, row);
    points.push({ row: row.id, variant: variant.id, status: 200 });
  }
  return points;
}

/** Returns by how much the profile raises the open limits of a key. */
export function addedLimitsOf(sandbox: ProfileSettings): KeyLimits {
  return variantIn(sandbox, limitsRow).adds;
}

export function withNameSuffix(sandbox: ProfileSettings, organization: Organization): Organization {
  const suffix = nameSuffixOf(sandbox);
  return suffix === "" ? organization : { ...organization, name: organization.name + suffix };
}

export function withoutNameSuffix(sandbox: ProfileSettings, organization: Organization): Organization {
  const { name } = organization;
  const length = name.length - nameSuffixOf(sandbox).length;
  return { ...organization, name: name.slice(0, length) };
}

/** The profile's suffix for the names of organizations; empty in most profiles. */
function nameSuffixOf(sandbox: ProfileSettings): string {
  if (profileOf(sandbox) !== "varied") return "";
  return variantIn(sandbox, suffixRow).adds;
}

/** Adds the scopes that the profile grants to a key. */
export function withGrantedScopes(sandbox: ProfileSettings, scopes: readonly string[]): readonly string[] {
  if (!grantsScopes(sandbox)) return scopes;
  const granted = variantIn(sandbox, scopesRow).adds.filter((scope) => !isNeeded(sandbox, scope));
  return granted.length === 0 ? scopes : [...scopes, ...granted];
}

export function withoutGrantedScopes(sandbox: ProfileSettings, scopes: readonly string[]): readonly string[] {
  if (!grantsScopes(sandbox)) return scopes;
  return scopes.filter((scope) => !allUndocumented.has(scope) || isNeeded(sandbox, scope));
}

function grantsScopes(sandbox: ProfileSettings): boolean {
  return profileOf(sandbox) === "varied" && sandbox.ownAssumptions.scopes === undefined;
}

/** Whether an endpoint needs a scope: the profile grants none of these. */
function isNeeded(sandbox: ProfileSettings, scope: string): boolean {
  return sandbox.endpoints.some((endpoint) => endpoint.scope === scope);
}
