import type { KeyLimits } from "../rules/api-key.js";
import type { Organization } from "../rules/organization.js";
import { pick, randomStream } from "../rules/seed.js";
import { fixedAssumptions, type Profiled, profileOf } from "./conditions.js";

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
