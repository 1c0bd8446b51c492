import { SandboxError } from "../domain/errors.js";
import type { FarmerMaker } from "../synthetic/farmers/farmers.js";

// The build for pages has this in the place of the farmers, whose tables are a quarter of a page and which few pages
// use. A page adds them by an import of its own (`docs/decisions/0012`).

// Registered globally, so that copies of this package share what a page has loaded.
const key = Symbol.for("svc-sandbox.farmers");
const provided = globalThis as unknown as Record<symbol, FarmerMaker | undefined>;

/** Provides the farmers of every sandbox of the page. */
export function provideFarmers(make: FarmerMaker): void {
  provided[key] = make;
}

/** Makes farmers; throws `usage` if no import has provided them. */
export const makeFarmers: FarmerMaker = (settings) => {
  const make = provided[key];
  if (make !== undefined) return make(settings);
  throw new SandboxError(
    "usage",
    'Failed to make the synthetic farmers, which a preview needs, too: in browsers, write import "svc-sandbox/farmers" next to the import of svc-sandbox.',
    { part: "farmers" },
  );
};
