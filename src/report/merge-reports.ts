import { adviceIds } from "../rules/advice.js";
import { sharesOf } from "./report.js";
import type {
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedOutcome,
  ReportedRepeat,
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
    const covered = rows.some((row) => row.covered);
    const howToCover = covered ? null : rows[0].howToCover;
    return { ...rows[0], covered, count: sum(rows, ({ count }) => count), howToCover };
  });
  const advice = adviceIds.flatMap((id): ReportedAdvice[] => {
    const rows = reports.flatMap((report) => report.advice.filter((one) => one.id === id));
    const examples = rows.flatMap((row) => row.examples).slice(0, maxExamples);
    return rows.slice(0, 1).map((row) => ({ ...row, count: sum(rows, ({ count }) => count), examples }));
  });
  const endpoints = groupsOf(
    reports.flatMap((report) => report.endpoints),
    ({ operationId }) => operationId,
  ).map((rows): ReportedEndpoint => {
    const requests = sum(rows, (row) => row.requests);
    return { ...rows[0], requests, covered: rows.some(({ covered }) => covered) };
  });
  // Its type requires all members: a missing one would be only the first run's.
  const merged: Omit<Report, "seed" | "profile" | "pinned"> = {
    scenario: [...new Set(runs.map(({ scenario }) => scenario))].join(", "),
    runs,
    requests: sum(reports, ({ requests }) => requests),
    unread: sum(reports, ({ unread }) => unread),
    ...sharesOf(outcomes, endpoints),
    endpoints,
    outcomes,
    advice,
    repeats: mergeRepeats(reports.flatMap(({ repeats }) => repeats)),
  };
  return { ...first, ...merged };
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
function mergeRepeats(repeats: readonly ReportedRepeat[]): ReportedRepeat[] {
  const merged = new Map<string, ReportedRepeat>();
  for (const repeat of repeats) {
    const id = `${repeat.outcome} ${repeat.key ?? repeat.fingerprint}`;
    merged.set(id, { ...repeat, count: repeat.count + (merged.get(id)?.count ?? 0) });
  }
  return [...merged.values()];
}

function sum<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  return rows.reduce((total, row) => total + numberOf(row), 0);
}
