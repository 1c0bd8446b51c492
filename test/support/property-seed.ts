/** The seed of every property test: fixed, so that CI says the same twice; `PROPERTY_SEED` tries another one. */
export const propertySeed = { seed: Number(process.env.PROPERTY_SEED ?? 20260302) };
