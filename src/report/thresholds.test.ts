import { expect, test } from "vitest";
import { createSandbox } from "../library/create-sandbox.js";
import { unmetThresholds } from "./thresholds.js";

test("nothing is asked of a report unless it is said", () => {
  expect(unmetThresholds(createSandbox().report(), {})).toEqual([]);
});

test("the coverage must reach what is asked for, and errors fail a strict run", async () => {
  const sandbox = createSandbox();
  await sandbox.fetch(`https://any.example/v1/relying-party/me?key=${sandbox.secret("active")}`);
  const report = sandbox.report();
  expect(report.coverage).toEqual({ percent: 5, met: 1, promised: 17 });
  expect(unmetThresholds(report, { minCoverage: 5 })).toEqual([]);
  expect(unmetThresholds(report, { minCoverage: 6 })).toEqual([
    "The coverage is 5 %, and 6 % is asked for: 16 of 17 promised paths were not met.",
  ]);
  expect(unmetThresholds(report, { minCoverage: 5, strict: true })).toEqual([
    "There is advice of the level error, and none is asked for: key-in-query.",
  ]);
  expect(unmetThresholds(report, { minCoverage: 100, strict: true })).toHaveLength(2);
});
