import { populatedNumbers } from "../scenario/population.js";
import { type DescribedKey, describedKeys, secretOf } from "./build-keys.js";
import { defaultKeyRef, type World } from "./world.js";

/** Up to how many keys those of a population are told of where nobody has asked for all. */
export const mostAnnounced = 1000;

/** Keys and how many more there are. */
export interface AnnouncedKeys {
  readonly keys: readonly DescribedKey[];
  readonly leftOut: number;
}

/** All keys whose secrets the scenario gives, those of a population last: nobody has written these out. */
function tellableKeys({ scenario }: World): { written: DescribedKey[]; populated: DescribedKey[] } {
  const written: DescribedKey[] = [];
  const populated: DescribedKey[] = [];
  for (const one of describedKeys(scenario)) {
    if (one.given.sha256 !== undefined) continue;
    // By its ref: a world that goes on from a snapshot does not say any more where its keys are from.
    (populatedNumbers(one.ref)?.key === undefined ? written : populated).push(one);
  }
  return { written, populated };
}

/** Every key that is written out, and those of the population as long as there are no more than 1,000 altogether. */
export function announcedKeys(world: World): AnnouncedKeys {
  const { written, populated } = tellableKeys(world);
  const shown = populated.slice(0, Math.max(0, mostAnnounced - written.length));
  return { keys: [...written, ...shown], leftOut: populated.length - shown.length };
}

/** So many of the keys that are written out; where there is none, a few of the population. */
export function firstKeys(world: World, most: number): AnnouncedKeys {
  const few = 5;
  const { written, populated } = tellableKeys(world);
  const keys = written.length > 0 ? written.slice(0, most) : populated.slice(0, few);
  return { keys, leftOut: written.length + populated.length - keys.length };
}

/** The full key that clients get when they ask for none; `undefined` when the scenario has none to tell. */
export function defaultSecret({ scenario, seed }: World): string | undefined {
  const ref = defaultKeyRef(scenario);
  const key = ref === undefined ? undefined : describedKeys(scenario).find((one) => one.ref === ref);
  return key === undefined || key.given.sha256 !== undefined ? undefined : secretOf(key, seed);
}
