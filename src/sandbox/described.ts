import {
  populatedKey,
  populatedKeyRef,
  populatedNumbers,
  populatedOrganization,
  populatedRef,
  populationOf,
} from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";

export type ScenarioOrganization = NonNullable<Scenario["organizations"]>[string];
export type ScenarioKey = NonNullable<ScenarioOrganization["keys"]>[string];

/** An organization as a scenario describes it, under its ref; one of the population has no keys in it. */
export interface DescribedOrganization {
  readonly ref: string;
  readonly given: ScenarioOrganization;
}

/** A key as a scenario describes it, under its ref and its organization's. */
export interface DescribedKey {
  readonly ref: string;
  readonly organization: string;
  readonly given: ScenarioKey;
}

/**
 * The organizations or the keys of a scenario at their places, 0, 1, 2 …: first those that are written out, then those of
 * its population. A population is never written out: each description is made when it is asked for.
 */
export interface Described<One> extends Iterable<One> {
  readonly size: number;
  /** The number of those that are written out. */
  readonly written: number;
  /** The one at a place. */
  readonly at: (place: number) => One;
  /** The place of a ref; `undefined` when the scenario does not have it. */
  readonly placeOf: (ref: string) => number | undefined;
}

/** The keys of a scenario. */
export interface DescribedKeyList extends Described<DescribedKey> {
  /** The places of the keys of one organization. */
  readonly placesOf: (organization: string) => number[];
}

/** The organizations of a scenario, in its order. */
export function describedOrganizations(scenario: Scenario): Described<DescribedOrganization> {
  const { organizations: given = {} } = scenario;
  const { organizations, keysEach } = populationOf(scenario);
  return describe(Object.keys(given), organizations, {
    writtenAt: (_place, ref) => ({ ref, given: given[ref] as ScenarioOrganization }),
    populatedAt: (index) => ({
      ref: populatedRef(index + 1),
      given: populatedOrganization(index + 1, keysEach),
    }),
    indexOf(ref) {
      const { organization = 0, key } = populatedNumbers(ref) ?? {};
      return key === undefined && organization <= organizations ? organization - 1 : -1;
    },
  });
}

/** The keys of a scenario, in the order of its organizations. */
export function describedKeys(scenario: Scenario): DescribedKeyList {
  const { organizations: given = {} } = scenario;
  const { organizations, keysEach } = populationOf(scenario);
  // Two lists of strings that the scenario has already: a million keys may be written out as well.
  const refs: string[] = [];
  const holders: string[] = [];
  for (const [organization, { keys = {} }] of Object.entries(given)) {
    for (const ref of Object.keys(keys)) {
      refs.push(ref);
      holders.push(organization);
    }
  }
  const list = describe(refs, organizations * keysEach, {
    writtenAt(place, ref) {
      const organization = holders[place] as string;
      return { ref, organization, given: given[organization]?.keys?.[ref] as ScenarioKey };
    },
    populatedAt(index) {
      const organization = Math.floor(index / keysEach) + 1;
      const key = (index % keysEach) + 1;
      return {
        ref: populatedKeyRef(organization, key),
        organization: populatedRef(organization),
        given: populatedKey(key),
      };
    },
    indexOf(ref) {
      const { organization = 0, key = 0 } = populatedNumbers(ref) ?? {};
      const isThere = key > 0 && key <= keysEach && organization <= organizations;
      return isThere ? (organization - 1) * keysEach + key - 1 : -1;
    },
  });
  return {
    ...list,
    placesOf(ref) {
      const written = holders.flatMap((holder, place) => (holder === ref ? [place] : []));
      const { organization = 0, key } = populatedNumbers(ref) ?? {};
      if (organization === 0 || key !== undefined || organization > organizations) return written;
      const first = refs.length + (organization - 1) * keysEach;
      return [...written, ...Array.from({ length: keysEach }, (_, index) => first + index)];
    },
  };
}

interface Parts<One> {
  readonly writtenAt: (place: number, ref: string) => One;
  readonly populatedAt: (index: number) => One;
  /** The index of a ref in the population; negative when it has none. */
  readonly indexOf: (ref: string) => number;
}

function describe<One>(
  refs: readonly string[],
  populated: number,
  { writtenAt, populatedAt, indexOf }: Parts<One>,
): Described<One> {
  const written = refs.length;
  const size = written + populated;
  // Made when the first ref is looked up: requests are found by their hash.
  let places: ReadonlyMap<string, number> | undefined;
  const at = (place: number) =>
    place < written ? writtenAt(place, refs[place] as string) : populatedAt(place - written);
  return {
    size,
    written,
    at,
    placeOf(ref) {
      places ??= new Map(refs.map((one, place) => [one, place]));
      const index = populated === 0 ? -1 : indexOf(ref);
      return places.get(ref) ?? (index < 0 ? undefined : written + index);
    },
    *[Symbol.iterator]() {
      for (let place = 0; place < size; place++) yield at(place);
    },
  };
}
