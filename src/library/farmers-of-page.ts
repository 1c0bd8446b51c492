import { SandboxError } from "../rules/errors.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";

// `scripts/bundle.ts` puts this file in place of `farmers/make-farmers.ts` in pages, of which few use farmers. It has to export
// the same name. The entry point `svc-sandbox/farmers` adds them (`docs/decisions/0012`).

/** Registered globally, so that all copies of this package share the farmers. */
const farmersKey = Symbol.for("svc-sandbox.farmers");

/** Makes the farmers known to all sandboxes of the page. */
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
