import type { Permission } from "./attestation.js";
import type { Persona } from "./consent.js";
import { randomStream } from "./seed.js";

/** What the first farmers do, whatever the seed: a client finds each of them by its index. */
const fixed: readonly Persona[] = ["grants", "refuses", "silent", "grants_then_revokes", "grants"];

/** The index of the farmer of whom no attestation can be made; those before it have none that fails. */
const withoutRecords = 4;

// Of all the others. Each share begins where the one before it ends.
const shares: readonly (readonly [upTo: number, persona: Persona])[] = [
  [0.7, "grants"],
  [0.8, "refuses"],
  [0.95, "silent"],
  [1, "grants_then_revokes"],
];
const failing = 0.05;

/** How the farmer at an index treats consent requests. */
export function personaOf(seed: number, farmer: number): Persona {
  const chance = chanceFor(seed, "farmer.persona", String(farmer));
  return fixed[farmer] ?? (shares.find(([upTo]) => chance < upTo)?.[1] as Persona);
}

/** Whether an attestation about the farmer at an index can be made. */
export function canBeAttested(seed: number, farmer: number, permission: Permission): boolean {
  if (farmer < fixed.length) return farmer !== withoutRecords;
  return chanceFor(seed, "farmer.attested", String(farmer), permission) >= failing;
}

function chanceFor(seed: number, ...labels: readonly string[]): number {
  return randomStream(seed, ...labels)() / 4_294_967_296;
}
