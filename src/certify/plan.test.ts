import { expect, test } from "vitest";
import { reasonOf } from "../../test/certify/hand-made.js";
import { startFrozen } from "../../test/support/doors.js";
import { clientReport } from "../report/report.js";
import type { Report } from "../report/report-shape.js";
import { coverageEvidence, onlyEvidence, timeoutsFor, variedSeeds } from "./plan.js";

const report = clientReport(startFrozen("key-states"));
const { coverage, announced } = report;

/** A report that covers so many promised outcomes and announced endpoints. */
const covering = (promised: number, endpoints: number, more: Partial<Report> = {}): Report => ({
  ...report,
  requests: 9,
  coverage: { ...coverage, covered: promised },
  announced: { ...announced, covered: endpoints },
  outcomes: report.outcomes.map((row) => ({ ...row, covered: row.outcome === "200.test" })),
  ...more,
});

test.each<[string, Report, string | undefined]>([
  ["five outcomes", covering(5, 0), undefined],
  ["two outcomes and three announced endpoints", covering(2, 3), undefined],
  ["more", covering(16, 0), undefined],
  [
    "four outcomes",
    covering(4, 0),
    `the client covers 4 of ${coverage.promised} promised outcomes, and certify needs 5`,
  ],
  ["no key", covering(1, 0, { outcomes: report.outcomes }), "the client sends no key in x-api-key"],
  ["no request", covering(0, 0, { requests: 0 }), "the command sent no request"],
])("a plain run with %s", (_, given, why) => {
  expect(reasonOf(coverageEvidence(given))?.why).toBe(why);
});

test("a plain run that covers four outcomes is told which keys to send", () => {
  expect(reasonOf(coverageEvidence(covering(4, 0)))?.whatToDo).toMatch(
    /^Send 1 or more of these keys, and check each response: SVC_KEY_LIVE \(200\.live\), /,
  );
});

test.each<[string, Parameters<typeof timeoutsFor>, { readonly total: number; readonly silent: number }]>([
  ["what --timeout sets", [5_000, 1_000, 61_000], { total: 5_000, silent: 5_000 }],
  ["a minute for the plain run", [undefined, undefined], { total: 60_000, silent: 60_000 }],
  ["half a minute for a short run", [undefined, 1_000], { total: 30_000, silent: 30_000 }],
  ["five times a long run", [undefined, 20_000], { total: 100_000, silent: 100_000 }],
  [
    "longer, and so long without a request, if the client may wait",
    [undefined, 1_000, 61_000],
    { total: 91_000, silent: 62_000 },
  ],
  ["at least half a minute without a request", [undefined, 1_000, 10_000], { total: 40_000, silent: 31_000 }],
])("a run has %s", (_, [timeout, plainMs, wait], expected) => {
  expect(timeoutsFor(timeout, plainMs, wait)).toEqual(expected);
});

const whatToDoFor = (name: string) => reasonOf(onlyEvidence({ only: [name] }, [], report))?.whatToDo;

test("a name of --only without a check says which keys end there", () => {
  expect(whatToDoFor("resend.403")).toMatch(
    /^Send a key that ends there, and check its response: SVC_KEY_\S+ \(403\.\w+\), SVC_KEY_/,
  );
  expect(whatToDoFor("answer.401.revoked")).toMatch(/: SVC_KEY_\S+ \(401\.revoked\)$/);
});

test("a name of --only without a check that needs no key of the scenario says so in one sentence", () => {
  expect(whatToDoFor("answer.401.missing")).toBe("Send a request that ends there, and check its response.");
});

test("a name of --only shows something if one of its checks is judged", () => {
  const reason = { why: "no request was hit", whatToDo: "Send it." };
  const open = {
    check: { kind: "fault", outcome: "fault.hang" },
    result: { kind: "not_judged", reason },
  } as const;
  const held = { check: { kind: "fault", outcome: "fault.slow" }, result: { kind: "held" } } as const;
  expect(onlyEvidence({ only: ["fault"] }, [open, held], report).kind).toBe("counts");
  expect(reasonOf(onlyEvidence({ only: ["fault.slow", "fault.hang"] }, [open, held], report))?.why).toBe(
    "fault.hang: no request was hit",
  );
});

test("a seed that --only names again is one seed", () => {
  expect(variedSeeds({ only: ["varied.1", "varied.3", "varied.1"], firstSeed: 1 })).toEqual([1, 3]);
});
