import { SandboxError } from "../rules/errors.js";
import type { FarmerMaker } from "../sandbox/farmer-records/farmer-list.js";

// Few pages use farmers, which weigh 40 kB: the entry point `svc-sandbox/farmers` adds them (`docs/decisions/0012`).

/** Where the entry point puts what makes farmers. Registered globally, so that all copies of this package share the farmers. */
export const farmersKey = Symbol.for("svc-sandbox.farmers");

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
