import { SandboxError } from "../rules/errors.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";

// Pages have this in place of the farmers, which few use, and add them with an import of their own (`docs/decisions/0012`).

// Registered globally, so that all copies of this package share the farmers.
const key = Symbol.for("svc-sandbox.farmers");

export function provideFarmers(make: FarmerMaker): void {
  Reflect.set(globalThis, key, make);
}

const pageFarmers: FarmerMaker = (settings) => {
  const make = Reflect.get(globalThis, key) as FarmerMaker | undefined;
  if (make !== undefined) return make(settings);
  throw new SandboxError(
    "usage",
    'The synthetic farmers are not loaded. In browsers, add import "svc-sandbox/farmers" next to the import of svc-sandbox.',
    { part: "farmers" },
  );
};

export { pageFarmers as makeFarmers };
