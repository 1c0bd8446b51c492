import type { Assumptions, Profile } from "../domain/assumptions.js";
import { pick, randomStream } from "../domain/seed.js";

// What the keys and organizations of a world of the profile `varied` have beside what their scenario says, as long as it
// has that profile. In their records, so that answers, lists and `guard` agree (R4). A snapshot leaves it out: the seed and
// the ref give it again.

interface ProfiledWorld {
  readonly seed: number;
  readonly profile: Profile;
  readonly givenAssumptions: Partial<Assumptions>;
}

/** Scopes that no document names: a new endpoint brings one, and several generations are spelled in several ways. */
const scopesOfNoDocument: readonly (readonly string[])[] = [
  [],
  ["parcels:read"],
  ["attestations:read:self", "webhooks:manage", "consents.export"],
];
const allOfNoDocument = new Set(scopesOfNoDocument.flat());

/** The scopes of a key with those that this world grants to it; `first` is the ref of the first key of its rotations. */
export function withGrantedScopes(
  { seed, profile, givenAssumptions }: ProfiledWorld,
  first: string,
  scopes: readonly string[],
): readonly string[] {
  if (profile !== "varied" || givenAssumptions.scopes !== undefined) return scopes;
  const granted = pick(randomStream(seed, "key.granted_scopes", first), scopesOfNoDocument);
  return granted.length === 0 ? scopes : [...scopes, ...granted];
}

/** The scopes of a key without those that this world grants. */
export function withoutGrantedScopes(
  { profile, givenAssumptions }: ProfiledWorld,
  scopes: readonly string[],
): readonly string[] {
  if (profile !== "varied" || givenAssumptions.scopes !== undefined) return scopes;
  return scopes.filter((scope) => !allOfNoDocument.has(scope));
}

/** Endings of names: accents, decomposed letters, other scripts, characters beyond 16 bits, markup, and great length. */
const endingsOfNames: readonly string[] = [
  "",
  " – Société Générale d’Épargne & Fils",
  " Cafe\u0301 A\u030angstro\u0308m",
  " بنك الحصاد 收穫銀行",
  " 🌾👩🏽‍🌾 𝒢𝓇𝒶𝒾𝓃",
  " <b>\"Grain\" \\ 'Co'</b> & {{sons}} %s",
  ` ${"of the United Valleys ".repeat(12).trim()}`,
];

/** What this world puts behind the name of an organization; empty in most profiles. */
export function endingOfName({ seed, profile }: ProfiledWorld, ref: string): string {
  return profile === "varied"
    ? pick(randomStream(seed, "organization.name_ending", ref), endingsOfNames)
    : "";
}
