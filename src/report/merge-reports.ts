import { adviceIds } from "../rules/advice.js";
import { maxAdviceExamples } from "../sandbox/journal/counts.js";
import { sharesOf } from "./report.js";
import type {
  HowToCover,
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedOutcome,
  ReportedResend,
} from "./report-shape.js";

/** Merges the reports of one or more runs: an outcome is covered if any run has covered it. */
export function mergeReports(reports: readonly [Report, ...Report[]]): Report {
  const runs: NonNullable<Report["runs"]>[number][] = [];
  const scenarios = new Set<string>();
  const rows = {
    outcomes: [] as ReportedOutcome[],
    endpoints: [] as ReportedEndpoint[],
    advice: [] as ReportedAdvice[],
    resends: [] as ReportedResend[],
  };
  let requests = 0;
  let unread = 0;
  for (const report of reports) {
    const { scenario, seed, profile, pinned } = report;
    // A merged report has runs already.
    const runsOfReport = report.runs ?? [{ scenario, seed, profile, pinned }];
    for (const run of runsOfReport) {
      runs.push(run);
      scenarios.add(run.scenario);
    }
    requests += report.requests;
    unread += report.unread;
    rows.outcomes.push(...report.outcomes);
    rows.endpoints.push(...report.endpoints);
    rows.advice.push(...report.advice);
    rows.resends.push(...report.resends);
  }

  const [{ seed, profile, pinned }] = reports;
  const outcomes = mergeOutcomes(rows.outcomes);
  const endpoints = mergeEndpoints(rows.endpoints);
  return {
    scenario: [...scenarios].join(", "),
    seed,
    profile,
    pinned,
    runs,
    requests,
    unread,
    ...sharesOf(outcomes, endpoints),
    endpoints,
    outcomes,
    advice: mergeAdvice(rows.advice),
    resends: mergeResends(rows.resends),
  } satisfies Required<Report>;
}

function mergeOutcomes(all: readonly ReportedOutcome[]): ReportedOutcome[] {
  const merged: ReportedOutcome[] = [];
  for (const rows of groupsOf(all, (row) => row.outcome)) {
    const { outcome, promised, when } = rows[0];
    let covered = false;
    let count = 0;
    let howToCover: HowToCover | null = null;
    for (const row of rows) {
      if (row.covered) covered = true;
      count += row.count;
      // The first run that can cover the outcome shows how.
      howToCover ??= row.howToCover;
    }
    if (covered) howToCover = null;
    merged.push({ outcome, promised, covered, count, when, howToCover });
  }
  return merged;
}

function mergeEndpoints(all: readonly ReportedEndpoint[]): ReportedEndpoint[] {
  const merged: ReportedEndpoint[] = [];
  // Runs of two scenarios may have an operation id at different paths.
  const idOf = ({ method, path, operationId }: ReportedEndpoint) => `${method} ${path} ${operationId}`;
  for (const rows of groupsOf(all, idOf)) {
    const { method, path, operationId, release } = rows[0];
    const requests = sum(rows, (row) => row.requests);
    const covered = rows.some((row) => row.covered);
    merged.push({ method, path, operationId, release, requests, covered });
  }
  return merged;
}

/** In the order of the table: the most serious first. Advice that only a newer version has comes last. */
function mergeAdvice(all: readonly ReportedAdvice[]): ReportedAdvice[] {
  const merged: ReportedAdvice[] = [];
  for (const rows of groupsOf(all, (row) => row.id)) {
    const { id, level, rule, meaning, whatToDo } = rows[0];
    const count = sum(rows, (row) => row.count);
    const examples: ReportedAdvice["examples"][number][] = [];
    for (const row of rows) examples.push(...row.examples);
    examples.splice(maxAdviceExamples);
    merged.push({ id, level, rule, count, meaning, whatToDo, examples });
  }

  const rankOf = ({ id }: ReportedAdvice) => {
    const rank = adviceIds.indexOf(id);
    return rank === -1 ? adviceIds.length : rank;
  };
  return merged.sort((left, right) => rankOf(left) - rankOf(right));
}

/** By the ref of the key if it has one: with each seed, a ref has another key. */
function mergeResends(all: readonly ReportedResend[]): ReportedResend[] {
  const merged: ReportedResend[] = [];
  for (const rows of groupsOf(all, (row) => `${row.outcome} ${row.key ?? row.fingerprint}`)) {
    const { outcome, key, fingerprint } = rows[0];
    const count = sum(rows, (row) => row.count);
    merged.push({ outcome, key, fingerprint, count });
  }
  return merged;
}

/** The rows by their ids: a group for each id, in the order of its first row. */
function groupsOf<Row>(rows: readonly Row[], idOf: (row: Row) => string): [Row, ...Row[]][] {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows) {
    const id = idOf(row);
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [row]);
    else group.push(row);
  }
  return [...groups.values()];
}

function sum<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  let total = 0;
  for (const row of rows) total += numberOf(row);
  return total;
}
