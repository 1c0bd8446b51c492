import { defineConfig } from "vitest/config";

// The tests of one room, which `mutants.ts` names: all mutants of a room run in one Vitest.
export default defineConfig({
  test: {
    globalSetup: "scripts/generate.ts",
    include: (process.env.MUTANT_TESTS ?? "").split(","),
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
