import { adviceIds } from "../rules/advice.js";
import { maxAdviceExamples } from "../sandbox/journal/counts.js";
import { sharesOf } from "./report.js";
import type {
  ConfiguredFault,
  HowToCover,
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedOutcome,
  ReportedResend,
} from "./report-shape.js";

/** A value for each member of a row, optional ones included: one without its rule for merges does not compile. */
type EachMember<Row> = { readonly [Name in keyof Row]-?: unknown };

/** Merges the reports of one or more runs: an outcome is covered if any run has covered it. */
export function mergeReports(reports: readonly [Report, ...Report[]]): Report {
  const [first] = reports;
  // A merged report has runs already.
  const runs: NonNullable<Report["runs"]>[number][] = [];
  for (const report of reports) {
    const { scenario, seed, profile, pinned } = report;
    runs.push(...(report.runs ?? [{ scenario, seed, profile, pinned }]));
  }
  const scenarios = new Set(runs.map(({ scenario }) => scenario));

  const outcomes = mergeOutcomes(reports.flatMap((report) => report.outcomes));
  const endpoints = mergeEndpoints(reports.flatMap((report) => report.endpoints));
  return {
    scenario: [...scenarios].join(", "),
    seed: first.seed,
    profile: first.profile,
    pinned: first.pinned,
    runs,
    requests: sum(reports, ({ requests }) => requests),
    unread: sum(reports, ({ unread }) => unread),
    ...sharesOf(outcomes, endpoints),
    endpoints,
    outcomes,
    advice: mergeAdvice(reports.flatMap((report) => report.advice)),
    resends: mergeResends(reports.flatMap((report) => report.resends)),
    configuredFaults: mergeFaults(reports.flatMap((report) => report.configuredFaults ?? [])),
  } satisfies EachMember<Report>;
}

function mergeOutcomes(outcomes: readonly ReportedOutcome[]): ReportedOutcome[] {
  return groupsOf(outcomes, (row) => row.outcome).map((rows) => {
    const { outcome, promised, when } = rows[0];
    const covered = rows.some((row) => row.covered);
    const count = sum(rows, (row) => row.count);
    // The first run that can cover the outcome shows how.
    let howToCover: HowToCover | null = null;
    if (!covered) howToCover = rows.find((row) => row.howToCover !== null)?.howToCover ?? null;
    return {
      outcome,
      promised,
      covered,
      count,
      when,
      howToCover,
    } satisfies EachMember<ReportedOutcome>;
  });
}

function mergeEndpoints(endpoints: readonly ReportedEndpoint[]): ReportedEndpoint[] {
  // Runs of two scenarios may have an operation id at different paths.
  const groups = groupsOf(endpoints, ({ method, path, operationId }) => `${method} ${path} ${operationId}`);
  return groups.map((rows) => {
    const { method, path, operationId, release } = rows[0];
    const requests = sum(rows, (row) => row.requests);
    const covered = rows.some((row) => row.covered);
    return { method, path, operationId, release, requests, covered } satisfies EachMember<ReportedEndpoint>;
  });
}

/** In the order of the table: the most serious first. Advice that only a newer version has comes last. */
function mergeAdvice(advice: readonly ReportedAdvice[]): ReportedAdvice[] {
  const merged: ReportedAdvice[] = [];
  for (const rows of groupsOf(advice, (row) => row.id)) {
    const { id, level, rule, meaning, whatToDo } = rows[0];
    const count = sum(rows, (row) => row.count);
    const examples = rows.flatMap((row) => row.examples).slice(0, maxAdviceExamples);
    const row = { id, level, rule, count, meaning, whatToDo, examples } satisfies EachMember<ReportedAdvice>;
    merged.push(row);
  }
  const rankOf = ({ id }: ReportedAdvice) =>
    adviceIds.includes(id) ? adviceIds.indexOf(id) : adviceIds.length;
  return merged.sort((one, other) => rankOf(one) - rankOf(other));
}

/** By the ref of the key if it has one: with each seed, a ref has another key. */
function mergeResends(resends: readonly ReportedResend[]): ReportedResend[] {
  const groups = groupsOf(resends, ({ outcome, key, fingerprint }) => `${outcome} ${key ?? fingerprint}`);
  return groups.map((rows) => {
    const { outcome, key, fingerprint } = rows[0];
    const count = sum(rows, (row) => row.count);
    return { outcome, key, fingerprint, count } satisfies EachMember<ReportedResend>;
  });
}

/** A fault that hit no request in one run may have hit one in another. */
function mergeFaults(faults: readonly ConfiguredFault[]): ConfiguredFault[] {
  return groupsOf(faults, ({ source, text }) => `${source} ${text}`).map((rows) => {
    const { source, fault, outcome, text } = rows[0];
    const requests = sum(rows, (row) => row.requests);
    return { source, fault, outcome, text, requests } satisfies EachMember<ConfiguredFault>;
  });
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
