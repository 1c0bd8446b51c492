import type { KeyRecord } from "../../rules/key-state.js";
import { makeSecret } from "../../rules/keys/key-text.js";
import { hexOf, type RandomStream, randomStream } from "../../rules/seed.js";
import type { ScenarioKey, ScenarioOrganization } from "./scenario-keys.js";

// Secrets and ids that a scenario does not pin are derived from its seed and the refs of their owners.

/** Derives a full key from the seed and its ref on every call, so that it is never stored (R35). */
export function deriveSecret(seed: number, key: Pick<KeyRecord, "ref" | "environment" | "legacy">): string {
  return makeSecret(randomStream(seed, "key.secret", key.ref), key);
}

/** Derives a well-formed key that no sandbox contains: a request with it gets `401.unknown`. */
export function unknownSecret(seed: number): string {
  // No ref contains a space, so that this has its own random stream.
  return deriveSecret(seed, { ref: "no such key", environment: "test", legacy: false });
}

/** The full key of a scenario's key: the one that the scenario pins, or the one that its seed derives. */
export function scenarioSecret(key: ScenarioKey, seed: number): string {
  const { ref, fields } = key;
  if (fields.secret !== undefined) return fields.secret;
  return deriveSecret(seed, { ref, environment: fields.environment, legacy: fields.legacy ?? false });
}

export function organizationIdOf(ref: string, fields: ScenarioOrganization, seed: number): string {
  return fields.id ?? uuidFrom(randomStream(seed, "organization.id", ref));
}

/** A UUID of version 4: random digits, but for digit 12, the version, and two bits of digit 16, the variant. */
function uuidFrom(draw: RandomStream): string {
  const digits = hexOf(draw()) + hexOf(draw()) + hexOf(draw()) + hexOf(draw());
  const variant = "89ab"[Number.parseInt(digits[16] as string, 16) & 3];
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32),
  ].join("-");
}
