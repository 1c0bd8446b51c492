import { SandboxError } from "../domain/errors.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { Farmer } from "../synthetic/farmers/farmer-schema.js";
import type { FarmerMaker } from "../synthetic/farmers/farmers.js";

/** The farmers of a world: each is made when it is asked for, so that a million of them cost nothing until then. */
export interface Farmers {
  readonly count: number;
  /** The instant on which their dates hang (epoch milliseconds). */
  readonly start: number;
  /** Throws `unknown_ref` for a farmer that the world does not have. */
  readonly at: (index: number) => Farmer;
  /** The id of the farmer at an index, which is not made for that. */
  readonly idOf: (index: number) => string;
  /** The index of the farmer with this id; `undefined` when the world has none. */
  readonly indexOf: (id: string) => number | undefined;
  /** Throws `unknown_ref` when the world has no farmer with this id. */
  readonly get: (id: string) => Farmer;
  /** At most `limit` farmers from the index `offset` on; fewer at the end. */
  readonly list: (page: { readonly offset: number; readonly limit: number }) => Farmer[];
}

/** How many farmers a world has when its scenario does not say. */
export const defaultFarmers = 1000;

/** How many farmers a page has when nothing is said. */
export const defaultFarmerPage = 20;

/** The farmers that a scenario asks for, in a world whose clock starts at `start`; the maker is asked with the first of them. */
export function farmersOf(
  { population = {} }: Scenario,
  { seed, start: clockStart, make }: { seed: number; start: number; make: FarmerMaker },
): Farmers {
  const { farmers: count = defaultFarmers, locale, as_of: asOf } = population;
  const start = asOf === undefined ? clockStart : Date.parse(asOf);
  let made: ReturnType<FarmerMaker> | undefined;
  const all = () => {
    made ??= make({ seed, count, start, locale });
    return made;
  };
  const at = (index: number) => all().at(index);
  return {
    count,
    start,
    at,
    idOf: (index) => all().idOf(index),
    indexOf: (id) => all().indexOf(id),
    get(id) {
      const index = all().indexOf(id);
      if (index !== undefined) return at(index);
      throw new SandboxError(
        "unknown_ref",
        `Failed to find the farmer ${JSON.stringify(id)}: none of the ${count} farmers has this id.`,
        { kind: "farmer", ref: id, count },
      );
    },
    list({ offset, limit }) {
      const length = Math.max(0, Math.min(limit, count - offset));
      return Array.from({ length }, (_, position) => at(offset + position));
    },
  };
}
