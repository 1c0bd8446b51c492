import { nameOf } from "../../src/certify/checks/check.js";
import type { JudgedCheck, ResultOfCheck } from "../../src/certify/checks/judgment.js";
import type { CertifyPlan } from "../../src/certify/checks/plan.js";
import {
  type KeyRequest,
  type PlannedRun,
  plainRunRequest,
  type RunEnd,
  type SentKey,
} from "../../src/certify/client-runs/client-run.js";
import { Runs } from "../../src/certify/client-runs/runs.js";
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
  sentKeys: [],
  points: [],
  replacedCount: 0,
  lastRequest: undefined,
  ownSeed: undefined,
  ownAssumptions: [],
  scenarios: [],
  headersWithKey: [],
  ...more,
});

/** Requests with one key, by what is special about each. */
export const sentKey = (key: string, ...requests: readonly Partial<KeyRequest>[]): SentKey => ({
  key,
  isUnknown: false,
  requests: requests.map((request, at) => ({
    id: `${key}-${at + 1}`,
    nth: at + 1,
    at: 100 * at,
    outcome: "200.test",
    canTakeFault: true,
    ...request,
  })),
});

/** So many requests with one key, of which the run hit one: from 1, or none. */
export const sentTimes = (key: string, count: number, hit = 0): SentKey =>
  sentKey(key, ...Array.from({ length: count }, (_, at) => (at + 1 === hit ? { isReplaced: true } : {})));

/** A run that is asked for, with its name as users see it. */
export type NamedRun = PlannedRun & { readonly name: string };

export const named = (request: PlannedRun): NamedRun => ({ ...request, name: nameOf(request.purpose) });

/** Why a result is not judged; `undefined` if it is. */
export const reasonOf = (result: ResultOfCheck | undefined) =>
  result?.kind === "not_judged" ? result : undefined;

/** The results of checks, by the names of these. */
export const resultsOf = (checks: readonly JudgedCheck[]): Record<string, ResultOfCheck> =>
  Object.fromEntries(checks.map(({ check, result }) => [nameOf(check), result]));

/** The kinds of these results. */
export const kindsOf = (checks: readonly JudgedCheck[]): Record<string, ResultOfCheck["kind"]> =>
  Object.fromEntries(checks.map(({ check, result }) => [nameOf(check), result.kind]));

/** A client whose runs end as a test decides, by their conditions and by how many under the same name were before. Its plain run comes first. */
export async function handMade(
  endOf: (request: NamedRun, before: number) => Partial<RunEnd> | undefined,
  plan: Partial<CertifyPlan> = {},
  say: (line: string) => void = () => {},
) {
  const names: string[] = [];
  const runs = new Runs(
    { seed: 1, firstSeed: 1, allow: [], defaultKey: "active", flags: [], certifyFlags: [], ...plan },
    {
      async run(request) {
        const run = named(request);
        const before = names.filter((name) => name === run.name).length;
        names.push(run.name);
        const end = endOf(run, before);
        return end === undefined ? "stopped" : runEnd(end);
      },
      say,
      jobs: 1,
    },
  );
  await runs.makeOnce(plainRunRequest);
  return { runs, names };
}
