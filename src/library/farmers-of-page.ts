import { SandboxError } from "../rules/errors.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";

// Pages have this in place of the farmers, which few use, and add them with an import of their own (`docs/decisions/0012`).

// Registered globally, so that all copies of this package share the farmers.
const farmersKey = Symbol.for("svc-sandbox.farmers");

export function provideFarmers(make: FarmerMaker): void {
  Reflect.set(globalThis, farmersKey, make);
}

const pageFarmers: FarmerMaker = (settings) => {
  const make = Reflect.get(globalThis, farmersKey) as FarmerMaker | undefined;
  if (make === undefined) {
    throw new SandboxError(
      "usage",
      'The synthetic farmers are not loaded. In browsers, add import "svc-sandbox/farmers" next to the import of svc-sandbox.',
      { part: "farmers" },
    );
  }
  return make(settings);
};

export { pageFarmers as makeFarmers };
