import { expect, test } from "vitest";
import { passed } from "../../test/certify/certified.js";
import type { CertifyResult, Run } from "./result.js";
import { verifyCertificate } from "./verify-certificate.js";

const { report } = passed;
const withRun = (change: Partial<Run>, at = 0): Partial<CertifyResult> => ({
  runs: passed.runs.map((run, index) => (index === at ? { ...run, ...change } : run)) as [Run, ...Run[]],
});
const paths = report.paths.map((path) => ({ ...path, met: false }));
const name = (passed.runs[0] as Run).name;

test.each<[string, Partial<CertifyResult>, string[]]>([
  ["nothing", {}, []],
  ["the coverage of a run", withRun({ percent: 1 }), [`coverage of ${name}`]],
  [
    "the coverage that a verdict needs",
    { report: { ...report, coverage: { ...report.coverage, met: 5 } } },
    ["verdict by the runs", "coverage of all runs"],
  ],
])("a certificate is compared by what does not depend on the machine: %s", (_what, change, expected) => {
  const { verified, facts } = verifyCertificate(passed, { ...passed, ...change });
  const differences = facts.filter(({ certified, now }) => certified !== now).map(({ fact }) => fact);
  expect([verified, differences]).toEqual([expected.length === 0, expected]);
});

test("runs that a certificate leaves out are not compared, nor anything about all runs", () => {
  const [first] = passed.runs;
  const left = { ...first, name: "left" };
  const partial = { ...passed, runs: [first, { ...left, outcome: "not_run" }] as typeof passed.runs };
  const now = { ...passed, runs: [first, left] as typeof passed.runs, report: { ...report, paths } };
  const { facts, notes } = verifyCertificate(partial, now);
  const about = facts.map(({ fact }) => fact);
  expect(about).toContain(`outcome of ${name}`);
  expect(about.filter((fact) => /of all runs$|^path /.test(fact))).toEqual([]);
  expect(about).not.toContain("outcome of left");
  expect(notes).toEqual([expect.stringMatching(/^The certificate leaves out 1 run\. /)]);
  expect(verifyCertificate(passed, passed).notes).toEqual([]);
});

test("another version, scenario or command is noted, and does not fail a certificate", () => {
  const { verified, notes } = verifyCertificate(passed, {
    ...{ ...passed, sandbox: "9.9.9", scenario: "other", command: ["other"], specification: "9" },
  });
  const what = notes.map((note) => /^The certificate names the (\w\S*) /.exec(note)?.[1]);
  expect([verified, what]).toEqual([true, ["svc-sandbox", "specification", "scenario", "command"]]);
});
