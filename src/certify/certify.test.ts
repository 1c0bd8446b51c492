import { expect, test } from "vitest";
import { runEnd } from "../../test/certify/hand-made.js";
import { certify } from "./certify.js";
import type { RunEnd } from "./client-run.js";

/** Why the plain run cannot be used, if each run ends as the next of these; the last one is repeated. */
async function whyUnusable(...ends: readonly ("passes" | "fails")[]): Promise<string | undefined> {
  let run = 0;
  const runOnce = async (): Promise<RunEnd> => {
    const end = ends[Math.min(run, ends.length - 1)];
    run += 1;
    return runEnd({ result: end === "passes" ? "passed" : "failed" });
  };
  const plan = { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], ownFlags: [] };
  const runner = { run: runOnce, onEnd() {}, separate() {} };
  return (await certify(plan, runner)).unusable?.why;
}

const fails = "the command fails in the plain run with exit code 1";

test("a plain run that fails names the profile typical only if it always decides: each other command may fail at random", async () => {
  const turn = ["fails", "passes"] as const;
  expect(await whyUnusable("fails")).toBe(fails);
  expect(await whyUnusable("fails", "passes")).toBe(`${fails}, and passes when it runs again`);
  expect(await whyUnusable("fails", ...turn, "passes")).toBe(`${fails}, and passes when it runs again`);
  expect(await whyUnusable("fails", ...turn, "fails")).toBe(
    `${fails}, and passes and fails with \`--profile typical\``,
  );
  expect(await whyUnusable("fails", ...turn, ...turn, ...turn, ...turn)).toBe(
    `${fails}, and passes with \`--profile typical\``,
  );
});
