import type { Environment } from "../domain/api-key.js";
import { parseApiKey } from "../domain/api-key.js";
import type { ActionName } from "../domain/steps.js";
import { freeRefIn, refOfName } from "./ref.js";
import type { Scenario } from "./scenario.generated.js";
import type { KeyFields, WorldFacts } from "./world-facts.js";

/** One thing of a timeline or of a story, as far as they have it in common. */
export type ActionFields = Pick<NonNullable<Scenario["timeline"]>[number], ActionName>;

/** What is known of a key before anything runs; `undefined` where it is not known. */
export interface StepKey {
  readonly environment: Environment | undefined;
  readonly legacy: boolean | undefined;
}

/** The keys that there are at a point of a timeline or a story, by ref. */
export type StepKeys = Map<string, StepKey>;

/** The keys with which a scenario starts. */
export function keysAtStart({ keyOf }: Pick<WorldFacts, "keyOf">): StepKeys {
  return new Map([...keyOf].map(([ref, { fields }]) => [ref, knownOf(fields)]));
}

function knownOf({ environment, legacy, secret, sha256 }: Partial<KeyFields>): StepKey {
  const pinned = secret === undefined ? undefined : parseApiKey(secret)?.legacy;
  return { environment, legacy: sha256 === undefined ? (legacy ?? pinned ?? false) : legacy };
}

/** The key that an action makes, if it makes one; a refused one makes none. */
export function keyMadeBy(
  { create_key: created, rotate }: ActionFields,
  keys: StepKeys,
): (StepKey & { readonly ref: string }) | undefined {
  const isTaken = (ref: string) => keys.has(ref);
  if (created !== undefined) {
    const ref = created.ref ?? freeRefIn(isTaken, refOfName(created.name));
    return { ref, environment: created.environment, legacy: false };
  }
  if (rotate === undefined) return undefined;
  const ref = rotate.as ?? freeRefIn(isTaken, rotate.key);
  return { ref, environment: keys.get(rotate.key)?.environment, legacy: false };
}
