import { adviceIds } from "../domain/advice.js";
import { sharesOf } from "./build-report.js";
import type { Report, ReportedAdvice, ReportedPath } from "./report.js";

const mostExamples = 5;

/** Merges the reports of several runs, at least one, into one: a path is met when a run has met it. */
export function mergeReports(reports: readonly [Report, ...Report[]]): Report {
  const [first] = reports;
  const runs = reports.flatMap(
    ({ runs, scenario, seed, profile, pinned }) => runs ?? [{ scenario, seed, profile, pinned }],
  );
  const paths = first.paths.map(({ pathId }) => mergePath(rowsOf(reports, pathId)));
  const advice = adviceIds.flatMap((id) => {
    const [row, ...others] = reports.flatMap((report) => report.advice.filter((one) => one.id === id));
    return row === undefined ? [] : [mergeAdvice([row, ...others])];
  });
  // Complete by its type: what is left out here would be that of the first run alone.
  const merged: Omit<Report, "seed" | "profile" | "pinned"> = {
    scenario: [...new Set(runs.map(({ scenario }) => scenario))].join(", "),
    runs,
    requests: sum(reports, ({ requests }) => requests),
    unread: sum(reports, ({ unread }) => unread),
    ...sharesOf(
      paths,
      reports.some(({ preview }) => preview !== null),
    ),
    paths,
    advice,
  };
  return { ...first, ...merged };
}

function rowsOf(reports: readonly Report[], pathId: string): [ReportedPath, ...ReportedPath[]] {
  const rows = reports.flatMap(({ paths }) => paths.filter((path) => path.pathId === pathId));
  return rows as [ReportedPath, ...ReportedPath[]];
}

function mergePath(rows: readonly [ReportedPath, ...ReportedPath[]]): ReportedPath {
  const met = rows.some((row) => row.met);
  return {
    ...rows[0],
    met,
    count: sum(rows, ({ count }) => count),
    previewCount: sum(rows, ({ previewCount }) => previewCount),
    howToMeet: met ? null : rows[0].howToMeet,
  };
}

function mergeAdvice(rows: readonly [ReportedAdvice, ...ReportedAdvice[]]): ReportedAdvice {
  const examples = rows.flatMap((row) => row.examples).slice(0, mostExamples);
  return { ...rows[0], count: sum(rows, ({ count }) => count), examples };
}

function sum<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  return rows.reduce((total, row) => total + numberOf(row), 0);
}
