import { expect, test } from "vitest";
import { reasonOf } from "../../test/certify/hand-made.js";
import { startFrozen } from "../../test/support/doors.js";
import { clientReport } from "../report/report.js";
import type { Report } from "../report/report-shape.js";
import { coverageEvidence, onlyEvidence } from "./coverage.js";

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
  [
    "three outcomes and an announced endpoint",
    covering(3, 1),
    `the client covers 3 of ${coverage.promised} promised outcomes and 1 announced endpoint, and certify needs 5`,
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
  expect(onlyEvidence({ only: ["fault"] }, [open, held], report).kind).toBe("sufficient");
  expect(reasonOf(onlyEvidence({ only: ["fault.slow", "fault.hang"] }, [open, held], report))?.why).toBe(
    "fault.hang: no request was hit",
  );
});
