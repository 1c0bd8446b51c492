import { expect, test } from "vitest";
import { certifySuite } from "../certify/generated/certify-suite.js";
import { goodSuite, type KeyRef, keys } from "../certify/generated/suite.js";
import { pageOf } from "../support/pages.js";

test("no correct client takes more runs than the pages say, also with all outcomes", async () => {
  const runsOf = async (...refs: readonly KeyRef[]) => {
    const tests = refs.map((key) => ({ key, times: 1, isParallel: false }));
    return (await certifySuite({ ...goodSuite, tests }, { label: "pages" })).runs;
  };
  const few = await runsOf("active", "live", "revoked", "expired", "wrong-scope", "rate-limited");
  const all = await runsOf(...(Object.keys(keys) as KeyRef[]));
  expect(few).toBeLessThanOrEqual(27);
  expect(all).toBeLessThanOrEqual(40);
  for (const page of ["README.md", "docs/certify.md"]) {
    expect(pageOf(page).match(/up to \d+ times/g)).toEqual(["up to 40 times"]);
  }
});
