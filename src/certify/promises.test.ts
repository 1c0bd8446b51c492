import { expect, test } from "vitest";
import { passed } from "../../test/certify/certified.js";
import { coverage } from "../../test/support/coverage.js";
import { brokenPromises } from "../api/promises.js";
import { renderCertificate } from "./document.js";
import { verdictOf } from "./plan.js";
import { promiseRun, promisesIn, unmetGates } from "./promises.js";
import type { CertifyResult, PromiseRun, Run, RunOutcome } from "./result.js";

const report = { ...passed.report, coverage: coverage(5) };
const [run] = passed.runs as [Run];

test.each<[string, RunOutcome[], Partial<CertifyResult>?]>([
  ["passed", ["passed", "passed", "passed"]],
  ["unusable", ["passed", "passed", "not_run"]],
  ["failed", ["passed", "flaky", "failed"]],
  ["failed", ["passed", "timed_out"]],
  ["flaky", ["passed", "flaky", "passed"]],
  ["flaky", ["flaky"]],
  ["unusable", ["failed", "not_run"]],
  ["unusable", ["not_run"]],
  ["failed", ["passed", "passed"], { unmet: [{ threshold: "--fail-on error", sentence: "" }] }],
  ["unusable", ["passed", "passed"], { report: { ...report, coverage: coverage(4) } }],
  [
    "unusable",
    ["passed"],
    { promises: promisesIn("swaps", [promiseRun(brokenPromises[0] as never, undefined, 0)]) },
  ],
])("the verdict is %s after %j, no matter what else happens", (verdict, outcomes, more = {}) => {
  const runs = outcomes.map((outcome): Run => ({ ...run, outcome }));
  expect(verdictOf({ ...passed, report, ...more, runs })).toBe(verdict);
});

const ended = (id: string, code: number | null, responses = 1): PromiseRun => {
  const promise = brokenPromises.find((one) => one.id === id);
  return promiseRun(promise as never, { code, durationMs: 1 }, responses);
};

test("noticed is an exit code other than 0; a run that had to be ended or has no changed response is not tried", () => {
  const id = "401.revoked:accepted";
  expect(
    [ended(id, 3), ended(id, 0), ended(id, null), ended(id, 1, 0)].map(({ outcome }) => outcome),
  ).toEqual(["noticed", "not_noticed", "not_tried", "not_tried"]);
});

test("without --min-noticed each swap must be noticed, and other promises are reported only", () => {
  const gates = { failOn: "error", minCoverage: 0 } as const;
  const missing = [ended("200.test:scopes-empty", 0), ended("401.revoked:accepted", 1)];
  const swaps = [ended("200.test:rejected", 0), ended("401.revoked:accepted", 1, 0)];
  const unmet = (runs: PromiseRun[], more = {}) =>
    unmetGates(report, promisesIn("all", runs), { ...gates, ...more }).map(({ threshold }) => threshold);
  expect(unmet(missing)).toEqual([]);
  expect(unmet(swaps)).toEqual(["--promises swaps"]);
  expect(unmet(missing, { minNoticed: 50 })).toEqual([]);
  expect(unmet(missing, { minNoticed: 51 })).toEqual(["--min-noticed 51"]);
  expect(unmet(swaps, { minNoticed: 0 })).toEqual([]);
  expect(unmet([], { minNoticed: 1 })).toEqual(["--min-noticed 1"]);
  expect(unmet([], { minCoverage: 30 })).toEqual(["--min-coverage 30"]);
});

test("JUnit has a failure for each swap that is not noticed, unless --min-noticed decides", () => {
  const promises = promisesIn("all", [ended("200.test:rejected", 0), ended("200.test:scopes-empty", 0)]);
  const failures = (gates: CertifyResult["gates"]) => {
    const xml = renderCertificate({ ...passed, promises, gates }, "junit");
    return [...xml.matchAll(/name="notices ([\w.:-]+): [^\n]*\n *<failure /g)].map(([, id]) => id);
  };
  expect(failures({ failOn: "error", minCoverage: 0 })).toEqual(["200.test:rejected"]);
  expect(failures({ failOn: "error", minCoverage: 0, minNoticed: 0 })).toEqual([]);
});
