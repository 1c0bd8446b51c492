/** Whether the long forms of the tests run, with `NIGHTLY=1`. */
export const isNightly = process.env.NIGHTLY === "1";

/** The seed of every property test: fixed, so that CI finds the same twice; `PROPERTY_SEED` tries another one. */
export const propertySeed = { seed: Number(process.env.PROPERTY_SEED ?? 20260302) };

const isCi = process.env.CI === "true";

/** How to try a property: so many times in CI, ten times as many in the nightly run, and a fifth while somebody waits. */
export function runs(inCi: number): { readonly seed: number; readonly numRuns: number } {
  const numRuns = isNightly ? 10 * inCi : isCi ? inCi : Math.ceil(inCi / 5);
  return { ...propertySeed, numRuns };
}
