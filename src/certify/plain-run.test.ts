import { expect, test } from "vitest";
import { reasonOf, runEnd } from "../../test/certify/hand-made.js";
import { startFrozen } from "../../test/support/doors.js";
import { clientReport } from "../report/report.js";
import type { Report } from "../report/report-shape.js";
import type { ClientRun } from "./client-runs/client-run.js";
import { judgePlainRun } from "./plain-run.js";

const report = clientReport(startFrozen("key-states"));
const { coverage, announced } = report;

const plainRun = (end: Parameters<typeof runEnd>[0]): ClientRun => ({
  ...runEnd(end),
  purpose: { kind: "plain" },
  seed: 1,
  conditions: {},
  clientMayWaitMs: 0,
  timeouts: { total: 1, silent: 1 },
  isAlone: false,
  number: 1,
});

/** Why a plain run that passed with this report shows too little. */
const doubtOf = (given: Report) => reasonOf(judgePlainRun(plainRun({ report: given })));

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
  [
    "three outcomes and an announced endpoint",
    covering(3, 1),
    `the client covers 3 of ${coverage.promised} promised outcomes and 1 announced endpoint, and certify needs 5`,
  ],
  ["no key", covering(1, 0, { outcomes: report.outcomes }), "the client sends no key in x-api-key"],
  [
    "two announced endpoints only",
    covering(0, 2, { outcomes: report.outcomes }),
    `the client covers 0 of ${coverage.promised} promised outcomes and 2 announced endpoints, and certify needs 5`,
  ],
  ["no request", covering(0, 0, { requests: 0 }), "the command sent no request"],
])("a plain run with %s", (_, given, why) => {
  expect(doubtOf(given)?.why).toBe(why);
});

test("a plain run that covers four outcomes is told which keys to send", () => {
  expect(doubtOf(covering(4, 0))?.whatToDo).toMatch(
    /^Send 1 or more of these keys, and check each response: SVC_KEY_LIVE \(200\.live\), /,
  );
});

test("a plain run is told to send other requests as well if too few keys cover an outcome", () => {
  const outcomes = report.outcomes.map((row) =>
    row.outcome === "200.live"
      ? { ...row, covered: false }
      : { ...row, covered: row.outcome === "200.test", howToCover: null },
  );
  expect(doubtOf(covering(1, 0, { outcomes }))?.whatToDo).toBe(
    "Send these keys, and other requests, so that they end on 4 or more other outcomes, and check each response: SVC_KEY_LIVE (200.live)",
  );
});

test("a plain run is told to cover more outcomes if no key of a scenario covers them alone", () => {
  const outcomes = report.outcomes.map((row) => ({ ...row, howToCover: null }));
  expect(doubtOf(covering(3, 0, { outcomes }))?.whatToDo).toBe(
    "Send requests that end on 2 or more other outcomes, and check each response.",
  );
});

test("a plain run that fails, or does not end in time, is told so, and what to try", () => {
  const failed = reasonOf(judgePlainRun(plainRun({ result: "failed" })));
  expect(failed?.why).toBe("the command fails in the plain run with exit code 1");
  expect(failed?.whatToDo).toContain("exec --profile typical");
  expect(reasonOf(judgePlainRun(plainRun({ result: "timed_out" })))?.why).toBe(
    "the command does not end in time in the plain run",
  );
});
