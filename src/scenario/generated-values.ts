import { type KeyRecord, prefixOf, randomLength, sandboxMark } from "../spec/api-key.js";
import type { Path } from "../spec/schema/shape.js";
import { quote } from "../spec/schema/words.js";
import { base62From, defaultSeed, type RandomStream, randomStream, uuidFrom } from "../spec/seed.js";
import {
  type DescribedKey,
  describedKeys,
  describedOrganizations,
  type ScenarioOrganization,
} from "./population.js";
import type { Scenario } from "./scenario.generated.js";

type KeyKind = Pick<KeyRecord, "environment" | "legacy">;

/** Creates a full key: prefix, `sbx`, and 29 base62 characters from the stream. */
export function secretFrom(random: RandomStream, { environment, legacy }: KeyKind): string {
  return prefixOf(environment, legacy) + sandboxMark + base62From(random, randomLength);
}

/** Derives a full key from the seed and its ref on every call, so that it is never stored (R35). */
export function deriveSecret(seed: number, key: KeyKind & Pick<KeyRecord, "ref">): string {
  return secretFrom(randomStream(seed, "key.secret", key.ref), key);
}

/** Derives a well-formed key that no sandbox contains: a request with it gets `401.unknown`. */
export function unknownSecret(seed: number): string {
  // No ref contains a space, so that this has its own random stream.
  return deriveSecret(seed, { ref: "no such key", environment: "test", legacy: false });
}

/** Returns the full key: the pinned one, or the one derived from the seed and the ref. */
export function secretOf({ ref, given }: DescribedKey, seed: number): string {
  if (given.secret !== undefined) return given.secret;
  return deriveSecret(seed, { ref, environment: given.environment, legacy: given.legacy ?? false });
}

/** Returns the organization's id: the pinned one, or the one derived from the seed and the ref. */
export function organizationIdOf(ref: string, given: ScenarioOrganization, seed: number): string {
  return given.id ?? uuidFrom(randomStream(seed, "organization.id", ref));
}

/** Finds each pinned secret and id that another key or organization has, pinned or derived from the seed (R12). */
export function sharedValues(scenario: Scenario) {
  const { seed = defaultSeed } = scenario;
  const keys = [...describedKeys(scenario)].map((one) => {
    const path = ["organizations", one.organization, "keys", one.ref, "secret"];
    return { ref: one.ref, path, pinned: one.given.secret, value: () => secretOf(one, seed) };
  });
  const organizations = [...describedOrganizations(scenario)].map(([ref, given]) => {
    const path = ["organizations", ref, "id"];
    return { ref, path, pinned: given.id, value: () => organizationIdOf(ref, given, seed) };
  });
  const unknown = { ref: "unknown", path: [], pinned: undefined, value: () => unknownSecret(seed) };
  return [
    ...sharedIn([unknown, ...keys], "duplicate_secret", (ref) => `the key ${ref} has the same secret`),
    ...sharedIn(organizations, "duplicate_organization_id", (ref) => `${ref} has the same id`),
  ];
}

interface Value {
  readonly ref: string;
  readonly path: Path;
  readonly pinned: string | undefined;
  readonly value: () => string;
}

function sharedIn<const Code>(values: readonly Value[], code: Code, messageFor: (owner: string) => string) {
  const pinned = values.filter((one) => one.pinned !== undefined);
  if (pinned.length === 0) return [];
  const generated = values.filter((one) => one.pinned === undefined);
  const owners = new Map(generated.map(({ ref, value }) => [value(), ref]));
  return pinned.flatMap(({ ref, path, pinned: value = "" }) => {
    const owner = owners.get(value);
    owners.set(value, owner ?? ref);
    const hint = "give each its own, or remove it and the seed generates one";
    return owner === undefined ? [] : [{ code, path, message: messageFor(quote(owner)), hint }];
  });
}
