import type { Scenario } from "../scenario/scenario.generated.js";
import type { FarmerMaker } from "../synthetic/farmers/farmers.js";

let make: FarmerMaker | undefined;

/**
 * Loads what farmers are made from, so that worlds of this platform can make them without waiting. Whoever lets somebody see
 * a farmer has awaited this before: most starts never do, and would be slower.
 */
export async function loadFarmers(): Promise<void> {
  make ??= (await import("../synthetic/farmers/farmers.js")).makeFarmers;
}

/** Loads them for a scenario whose API shows farmers. */
export async function loadFarmersFor(scenario: Scenario): Promise<void> {
  if ("preview" in scenario) await loadFarmers();
}

/** Makes farmers, once `loadFarmers` has been awaited. */
export const loadedFarmers: FarmerMaker = (population) => {
  if (make === undefined) throw new Error("the farmers are not loaded: await loadFarmers() before");
  return make(population);
};
