import { adviceIds } from "../rules/advice.js";
import { sharesOf } from "./report.js";
import type {
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedOutcome,
  ReportedResend,
} from "./report-shape.js";

const maxExamples = 5;

/** Merges the reports of one or more runs: an outcome is covered if any run has covered it. */
export function mergeReports(reports: readonly [Report, ...Report[]]): Report {
  const [first] = reports;
  const runs = reports.flatMap(
    ({ runs, scenario, seed, profile, pinned }) => runs ?? [{ scenario, seed, profile, pinned }],
  );
  const outcomes = groupsOf(
    reports.flatMap((report) => report.outcomes),
    ({ outcome }) => outcome,
  ).map((rows): ReportedOutcome => {
    const [{ outcome, promised, when, howToCover }] = rows;
    const covered = rows.some((row) => row.covered);
    const count = sum(rows, (row) => row.count);
    return { outcome, promised, covered, count, when, howToCover: covered ? null : howToCover };
  });
  const advice = adviceIds.flatMap((id): ReportedAdvice[] => {
    const rows = reports.flatMap((report) => report.advice.filter((one) => one.id === id));
    const examples = rows.flatMap((row) => row.examples).slice(0, maxExamples);
    const count = sum(rows, (row) => row.count);
    return rows.slice(0, 1).map(({ level, rule, meaning, whatToDo }) => {
      return { id, level, rule, count, meaning, whatToDo, examples };
    });
  });
  const endpoints = groupsOf(
    reports.flatMap((report) => report.endpoints),
    ({ operationId }) => operationId,
  ).map((rows): ReportedEndpoint => {
    const [{ method, path, operationId, release }] = rows;
    const requests = sum(rows, (row) => row.requests);
    const covered = rows.some((row) => row.covered);
    return { method, path, operationId, release, requests, covered };
  });
  // Each member is listed, here and in its rows: types then require a rule for a new one.
  return {
    scenario: [...new Set(runs.map(({ scenario }) => scenario))].join(", "),
    seed: first.seed,
    profile: first.profile,
    pinned: first.pinned,
    runs,
    requests: sum(reports, ({ requests }) => requests),
    unread: sum(reports, ({ unread }) => unread),
    ...sharesOf(outcomes, endpoints),
    endpoints,
    outcomes,
    advice,
    resends: mergeResends(reports.flatMap(({ resends }) => resends)),
  };
}

/** The rows with the same id, in the order of their first ones. */
function groupsOf<Row>(rows: readonly Row[], idOf: (row: Row) => string): [Row, ...Row[]][] {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows) {
    const group = groups.get(idOf(row));
    if (group === undefined) groups.set(idOf(row), [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

// Merged by ref, because each seed has other keys for a ref.
function mergeResends(resends: readonly ReportedResend[]): ReportedResend[] {
  const merged = new Map<string, ReportedResend>();
  for (const { outcome, key, fingerprint, count } of resends) {
    const id = `${outcome} ${key ?? fingerprint}`;
    merged.set(id, { outcome, key, fingerprint, count: count + (merged.get(id)?.count ?? 0) });
  }
  return [...merged.values()];
}

function sum<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  return rows.reduce((total, row) => total + numberOf(row), 0);
}
