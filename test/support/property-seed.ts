/** Whether the long forms of the tests run, with `NIGHTLY=1`. */
export const isNightly = process.env.NIGHTLY === "1";

/** The seed of every property test: fixed, so that CI finds the same twice; `PROPERTY_SEED` tries another one. */
export const propertySeed = { seed: Number(process.env.PROPERTY_SEED ?? 20260302) };

/** How to try a property: so many times, and ten times as many in the nightly run. */
export function runs(daily: number): { readonly seed: number; readonly numRuns: number } {
  return { ...propertySeed, numRuns: isNightly ? 10 * daily : daily };
}
