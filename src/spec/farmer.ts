import type { Permission } from "./attestation.js";
import type { Persona } from "./consent.js";
import { randomStream } from "./seed.js";

/** The locales of farmers: a language, with a country if the language has several. */
export const farmerLocales = [
  "en_GH",
  "en_IN",
  "en_NG",
  "es_MX",
  "fr_SN",
  "id_ID",
  "pt_BR",
  "tr",
  "uk",
  "vi",
] as const;
export type FarmerLocale = (typeof farmerLocales)[number];

/** A locale, or a language for all its locales. */
export const farmerLocaleChoices: readonly [string, ...string[]] = [
  ...new Set(farmerLocales.flatMap((name) => [name.split("_")[0] as string, name])),
] as [string, ...string[]];

/** The number of farmers of a seed: each has an index of 32 bits. */
export const mostFarmers = 2 ** 32;

/** The personas of the first farmers, the same for every seed, so a client can find each one by its index. */
const fixed: readonly Persona[] = ["grants", "refuses", "silent", "grants_then_revokes", "grants"];

/** The index of the farmer whose attestations all fail. Attestations of the farmers before it never fail. */
const withoutRecords = 4;

// The personas of all other farmers, with cumulative shares.
const shares: readonly (readonly [upTo: number, persona: Persona])[] = [
  [0.7, "grants"],
  [0.8, "refuses"],
  [0.95, "silent"],
  [1, "grants_then_revokes"],
];
const failing = 0.05;

/** The persona of the farmer at an index. */
export function personaOf(seed: number, farmer: number): Persona {
  const chance = chanceFor(seed, "farmer.persona", String(farmer));
  return fixed[farmer] ?? (shares.find(([upTo]) => chance < upTo)?.[1] as Persona);
}

/** Whether the production of an attestation succeeds, for the farmer at an index. */
export function canBeAttested(seed: number, farmer: number, permission: Permission): boolean {
  if (farmer < fixed.length) return farmer !== withoutRecords;
  return chanceFor(seed, "farmer.attested", String(farmer), permission) >= failing;
}

function chanceFor(seed: number, ...labels: readonly string[]): number {
  return randomStream(seed, ...labels)() / 4_294_967_296;
}
