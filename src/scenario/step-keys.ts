import { type Environment, parseApiKey } from "../domain/api-key.js";
import type { ActionName } from "../domain/steps.js";
import { endAtStart, type KeyEnd } from "./key-ends.js";
import { freeRefIn, refOfName } from "./ref.js";
import type { Scenario } from "./scenario.generated.js";
import type { KeyFields, WorldFacts } from "./world-facts.js";

/** One thing of a timeline or of a story, as far as they have it in common. */
export type ActionFields = Pick<NonNullable<Scenario["timeline"]>[number], ActionName>;

/** What is known of a key before anything runs; `undefined` where it is not known. */
export interface StepKey {
  readonly environment: Environment | undefined;
  readonly legacy: boolean | undefined;
  /** How it has ended, if it certainly has. */
  readonly end?: KeyEnd | undefined;
  /** Whether it may not be there yet, or be called in another way: something else than the steps before makes it. */
  readonly uncertain?: boolean;
}

/** The keys that there are at a point of a timeline or a story, by ref. */
export type StepKeys = Map<string, StepKey>;

/** The keys with which a scenario starts. */
export function keysAtStart({ keyOf }: Pick<WorldFacts, "keyOf">): StepKeys {
  return new Map(
    [...keyOf].map(([ref, key]) => [ref, { ...knownOf(key.fields), end: endAtStart(key), uncertain: false }]),
  );
}

function knownOf({ environment, legacy, secret, sha256 }: Partial<KeyFields>) {
  const pinned = secret === undefined ? undefined : parseApiKey(secret)?.legacy;
  return { environment, legacy: sha256 === undefined ? (legacy ?? pinned ?? false) : legacy };
}

/** Adds the key that an action makes, unless it is expected to be refused; answers its ref. */
export function addKeyMade(
  action: ActionFields & { expect?: { error?: string } },
  keys: StepKeys,
  isElsewhere = false,
): string | undefined {
  if (action.expect?.error !== undefined) return undefined;
  const made = keyMadeBy(action, keys);
  if (made === undefined) return undefined;
  const { ref, ...key } = made;
  // What is there for certain stays as it is, whatever somebody else would put in its place.
  if (isElsewhere && keys.get(ref)?.uncertain === false) return ref;
  const isNamed = (action.create_key?.ref ?? action.rotate?.as) !== undefined;
  // What is made by then decides which ref is free.
  const uncertain = isElsewhere || (!isNamed && [...keys.values()].some((one) => one.uncertain));
  keys.set(ref, { ...key, uncertain });
  return ref;
}

/** The first step that makes each ref. Adds to the keys. */
export function makersOf<Step extends { readonly fields: ActionFields & { expect?: { error?: string } } }>(
  steps: readonly Step[],
  keys: StepKeys,
): ReadonlyMap<string, Step> {
  const makers = new Map<string, Step>();
  for (const step of steps) {
    const { rotate } = step.fields;
    // Who rotates a key that is not there makes none.
    const made = rotate !== undefined && !keys.has(rotate.key) ? undefined : addKeyMade(step.fields, keys);
    if (made !== undefined && !makers.has(made)) makers.set(made, step);
  }
  return makers;
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
