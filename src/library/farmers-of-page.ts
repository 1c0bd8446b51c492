import { SandboxError } from "../rules/errors.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";

// Few pages use farmers, which weigh 40 kB: the entry point `svc-sandbox/farmers` adds them (`docs/decisions/0012`).

/** Registered globally, so that all copies of this package share the farmers. */
const farmersKey = Symbol.for("svc-sandbox.farmers");

/** Makes the farmers known to all sandboxes of the page. */
export function provideFarmers(make: FarmerMaker): void {
  Reflect.set(globalThis, farmersKey, make);
}

/** Makes farmers if the page has imported them. */
export const farmersOfPage: FarmerMaker = (settings) => {
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
