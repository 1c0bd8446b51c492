import { SandboxError } from "../../rules/errors.js";
import { requireInstant } from "../../rules/time-input.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { quote } from "../../schema/words.js";
import type { Farmer } from "./farmer-shape.js";

/** How many farmers a list has at most, unless it is told. */
export const defaultFarmerPage = 20;

/** How many farmers a sandbox has, unless its scenario tells. */
const defaultCount = 1000;

/** What decides all farmers. */
interface FarmerSettings {
  readonly seed: number;
  /** When their dates count from (epoch milliseconds). */
  readonly start: number;
  /** Their locale or language. Default: all locales. */
  readonly locale: string | undefined;
}

/** Farmers without an end, by index. */
interface MadeFarmers {
  readonly at: (index: number) => Farmer;
  readonly idOf: (index: number) => string;
  readonly indexOf: (id: string) => number | undefined;
}

/** Creates farmers from settings: the same ones each time. */
export type FarmerMaker = (settings: FarmerSettings) => MadeFarmers;

/** The farmers of a sandbox. `at` and `get` throw `unknown_ref`. */
export interface Farmers extends MadeFarmers {
  readonly count: number;
  /** When their dates count from (epoch milliseconds). */
  readonly start: number;
  readonly get: (id: string) => Farmer;
  readonly list: (page: { readonly offset: number; readonly limit: number }) => Farmer[];
}

/** Each farmer is created on demand, so that a million cost nothing before. */
export function farmersOf(
  { population = {} }: Scenario,
  settings: { seed: number; start: number; make: FarmerMaker | undefined },
): Farmers {
  const { seed, make } = settings;
  const count = population.farmers ?? defaultCount;
  const start = population.as_of === undefined ? settings.start : requireInstant(population.as_of);

  let farmers: MadeFarmers | undefined;
  const allFarmers = () => {
    if (make === undefined) {
      throw new SandboxError("usage", "This sandbox has no farmers.", { part: "farmers" });
    }
    farmers ??= make({ seed, start, locale: population.locale });
    return farmers;
  };

  const at = (index: number): Farmer => {
    if (Number.isInteger(index) && index >= 0 && index < count) return allFarmers().at(index);
    throw unknownFarmer(index, `there are ${count}, counted from 0`, count);
  };

  const indexOf = (id: string): number | undefined => {
    // HTTP and JavaScript may pass anything.
    const index = allFarmers().indexOf(String(id));
    return index !== undefined && index < count ? index : undefined;
  };

  return {
    count,
    start,
    at,
    indexOf,
    idOf: (index: number): string => allFarmers().idOf(index),
    get(id): Farmer {
      const index = indexOf(id);
      if (index !== undefined) return at(index);
      throw unknownFarmer(id, `none of the ${count} farmers has this id`, count);
    },
    list({ offset, limit }): Farmer[] {
      const length = Math.max(0, Math.min(limit, count - offset));
      return Array.from({ length }, (_, position) => at(offset + position));
    },
  };
}

function unknownFarmer(ref: unknown, problem: string, count: number): SandboxError {
  const message = `Unknown farmer ${quote(ref)}: ${problem}.`;
  return new SandboxError("unknown_ref", message, { kind: "farmer", ref, count });
}
