import { SandboxError } from "../../domain/errors.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import type { Farmer } from "../../synthetic/farmers/farmer-shape.js";
import type { FarmerMaker } from "../../synthetic/farmers/farmers.js";

export const defaultFarmerPage = 20;

/**
 * The farmers of a scenario, in a world whose clock starts at `start`; `make` is called for the first of them.
 *
 * Each is made on demand, so that a million of them cost nothing before.
 */
export function farmersOf(
  { population = {} }: Scenario,
  { seed, start: clockStart, make }: { seed: number; start: number; make: FarmerMaker },
) {
  const { farmers: count = 1000, locale, as_of: asOf } = population;
  // The instant that their dates depend on.
  const start = asOf === undefined ? clockStart : Date.parse(asOf);
  let made: ReturnType<FarmerMaker> | undefined;
  const all = () => {
    made ??= make({ seed, start, locale });
    return made;
  };
  /** Throws `unknown_ref` for a farmer that the world does not have. */
  const at = (index: number): Farmer => {
    if (Number.isInteger(index) && index >= 0 && index < count) return all().at(index);
    throw unknownFarmer(index, `there are ${count}, counted from 0`, count);
  };
  /** The index of the farmer with this id; `undefined` when the world has none. */
  const indexOf = (id: string): number | undefined => {
    // Over HTTP and from JavaScript anything may come in.
    const index = all().indexOf(String(id));
    return index !== undefined && index < count ? index : undefined;
  };
  return {
    count,
    start,
    at,
    indexOf,
    /** The id of the farmer at an index; does not make the farmer. */
    idOf: (index: number): string => all().idOf(index),
    /** Throws `unknown_ref` when the world has no farmer with this id. */
    get(id: string): Farmer {
      const index = indexOf(id);
      if (index !== undefined) return at(index);
      throw unknownFarmer(id, `none of the ${count} farmers has this id`, count);
    },
    /** At most `limit` farmers from the index `offset` on; fewer at the end. */
    list({ offset, limit }: { readonly offset: number; readonly limit: number }): Farmer[] {
      const length = Math.max(0, Math.min(limit, count - offset));
      return Array.from({ length }, (_, position) => at(offset + position));
    },
  };
}

export type Farmers = ReturnType<typeof farmersOf>;

function unknownFarmer(ref: unknown, problem: string, count: number): SandboxError {
  return new SandboxError("unknown_ref", `Failed to find the farmer ${JSON.stringify(ref)}: ${problem}.`, {
    kind: "farmer",
    ref,
    count,
  });
}
