import { SandboxError } from "../../rules/errors.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { quote } from "../../schema/words.js";
import { requireInstant } from "../clock.js";
import type { Farmer } from "./farmer-shape.js";

export const defaultFarmerPage = 20;

const defaultCount = 1000;

interface FarmerSettings {
  readonly seed: number;
  readonly start: number;
  /** Their locale or language. Default: all locales. */
  readonly locale: string | undefined;
}

interface AllFarmers {
  readonly at: (index: number) => Farmer;
  readonly idOf: (index: number) => string;
  readonly indexOf: (id: string) => number | undefined;
}

/** Creates farmers from settings: the same ones each time. */
export type FarmerMaker = (settings: FarmerSettings) => AllFarmers;

/** No date of a farmer counts from an earlier one: a year of birth before the year 0 has no form in ISO 8601. */
const earliestDate = Date.parse("0200-01-01T00:00:00Z");

/** The farmers of a sandbox: each is created when it is read, so that a million cost nothing before. */
export class Farmers {
  readonly count: number;
  readonly start: number;
  readonly #settings: FarmerSettings;
  readonly #make: FarmerMaker | undefined;
  #all: AllFarmers | undefined;

  /** Their dates count from `start` (epoch milliseconds), unless the population has its own date. `make`: default none. */
  constructor(
    { population = {} }: Scenario,
    { seed, start, make }: { seed: number; start: number; make: FarmerMaker | undefined },
  ) {
    this.count = population.farmers ?? defaultCount;
    const asOf = population.as_of === undefined ? start : requireInstant(population.as_of);
    this.start = Math.max(asOf, earliestDate);
    this.#settings = { seed, start: this.start, locale: population.locale };
    this.#make = make;
  }

  at(index: number): Farmer {
    if (Number.isInteger(index) && index >= 0 && index < this.count) return this.#allFarmers().at(index);
    throw unknownFarmer(index, `there are ${this.count}, counted from 0`, this.count);
  }

  get(id: string): Farmer {
    // JavaScript may pass anything.
    const index = typeof id === "string" ? this.#allFarmers().indexOf(id) : undefined;
    if (index !== undefined && index < this.count) return this.at(index);
    throw unknownFarmer(id, `none of the ${this.count} farmers has this id`, this.count);
  }

  list({ offset, limit }: { readonly offset: number; readonly limit: number }): Farmer[] {
    const farmers: Farmer[] = [];
    const end = Math.min(offset + limit, this.count);
    for (let index = offset; index < end; index += 1) farmers.push(this.at(index));
    return farmers;
  }

  /** All farmers, of which each is still to be created. */
  #allFarmers(): AllFarmers {
    if (this.#make === undefined) {
      throw new SandboxError("usage", "This sandbox has no farmers.", { part: "farmers" });
    }
    this.#all ??= this.#make(this.#settings);
    return this.#all;
  }
}

function unknownFarmer(ref: unknown, problem: string, count: number): SandboxError {
  const message = `Unknown farmer ${quote(ref)}: ${problem}.`;
  return new SandboxError("unknown_ref", message, { kind: "farmer", ref, count });
}
