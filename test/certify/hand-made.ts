import type { KeyRequest, PlannedRun, RunEnd, SentKey } from "../../src/certify/client-run.js";
import type { CertifyPlan } from "../../src/certify/plan.js";
import { Runs } from "../../src/certify/runs.js";
import { clientReport } from "../../src/report/report.js";
import type { Report } from "../../src/report/report-shape.js";
import type { OutcomeId } from "../../src/rules/outcomes.js";
import { startFrozen } from "../support/doors.js";

const report = clientReport(startFrozen("key-states"));

/** The report of a run that covered only these outcomes. */
export const reportCovering = (...outcomes: readonly OutcomeId[]): Report => ({
  ...report,
  outcomes: report.outcomes.map((row) => ({ ...row, covered: outcomes.includes(row.outcome) })),
});

/** A run that passed and sent nothing, with what a test changes. */
export const runEnd = (more: Partial<RunEnd> = {}): RunEnd => ({
  result: "passed",
  code: more.result === "failed" ? 1 : 0,
  durationMs: 9,
  report,
  output: [],
  sent: [],
  points: [],
  replacedCount: 0,
  lastRequest: undefined,
  pinned: undefined,
  ownAssumptions: [],
  scenarios: [],
  ...more,
});

/** Requests with one key, by what is special about each. */
export const sentKey = (key: string, ...requests: readonly Partial<KeyRequest>[]): SentKey => ({
  key,
  isUnknown: false,
  requests: requests.map((request, at) => ({
    id: `${key}-${at + 1}`,
    at: 100 * at,
    outcome: "200.test",
    canFail: true,
    ...request,
  })),
});

/** So many requests with one key, of which the run hit one: from 1, or none. */
export const sentTimes = (key: string, count: number, hit = 0): SentKey =>
  sentKey(key, ...Array.from({ length: count }, (_, at) => (at + 1 === hit ? { isReplaced: true } : {})));

/** A client whose runs end as a test decides, by their conditions and by how many under the same name were before. Its plain run comes first. */
export async function handMade(
  endOf: (request: PlannedRun, before: number) => Partial<RunEnd> | undefined,
  plan: Partial<CertifyPlan> = {},
) {
  const names: string[] = [];
  const runs = new Runs(
    { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [], ...plan },
    {
      async run(request) {
        const before = names.filter((name) => name === request.name).length;
        names.push(request.name);
        const end = endOf(request, before);
        return end && runEnd(end);
      },
      onEnd() {},
      separateRuns() {},
    },
  );
  await runs.make("plain", {});
  return { runs, names };
}
