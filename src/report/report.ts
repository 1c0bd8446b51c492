import { builtIn, outcomesOf, withNames } from "../api/endpoints.js";
import { routeAt } from "../api/routes.js";
import { ownAssumptionNames } from "../api/variation/own-assumptions.js";
import { adviceIds, adviceTable } from "../rules/advice.js";
import { isFault, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed, nearest } from "../rules/schema/words.js";
import { isoOf } from "../rules/time.js";
import { type Endpoint, successOutcomesOf } from "../sandbox/endpoint.js";
import { type Counters, type Counts, requestsTo } from "../sandbox/journal/counts.js";
import { runDue } from "../sandbox/operations/operations.js";
import { profileOf } from "../sandbox/profile.js";
import type { Invocation, SandboxState } from "../sandbox/sandbox-state.js";
import { howToCover } from "./how-to-cover.js";
import type {
  HowToCover,
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedOutcome,
  ReportedResend,
} from "./report-shape.js";

/** `keysInOutput` are the places of keys in a command's output, `counters` those of a client that may clear the sandbox's own. */
export function clientReport(
  sandbox: SandboxState,
  { underExec = false, keysInOutput = [] }: { underExec?: boolean; keysInOutput?: readonly string[] } = {},
  counters: Pick<Counters, "read"> = sandbox.counters,
): Report {
  runDue(sandbox);
  const { invocation } = sandbox;
  const counted = counters.read();
  const hints = howToCover(sandbox, { curlOptions: invocation.curlOptions, underExec });
  const served = sandbox.endpoints;
  const outcomes = reportedOutcomes(counted, served, hints);
  const isCovered = (id: string) => outcomes.some(({ outcome, covered }) => covered && outcome === id);
  const endpoints = served.map((endpoint): ReportedEndpoint => {
    const { method, path, operationId } = endpoint;
    const requests = requestsTo(counted, operationId);
    const covered = successOutcomesOf(endpoint).some(isCovered);
    const release = (builtIn as readonly Endpoint[]).includes(endpoint) ? "released" : "announced";
    return { method, path, operationId, release, requests, covered };
  });
  return {
    scenario: sandbox.name,
    seed: sandbox.seed,
    profile: profileOf(sandbox),
    pinned: ownAssumptionNames(sandbox),
    requests: counted.requests,
    unread: counted.unread,
    ...sharesOf(outcomes, endpoints),
    endpoints,
    outcomes,
    advice: reportedAdvice(counted, served, invocation, keysInOutput),
    resends: counted.resends,
  };
}

function reportedOutcomes(
  counted: Counts,
  served: readonly Endpoint[],
  hints: (outcome: OutcomeId) => HowToCover | null,
): ReportedOutcome[] {
  const knownRows = outcomesOf(served);
  // Of an endpoint that an earlier scenario had.
  const unknownIds = Object.keys(counted.outcomes).filter((id) => knownRows.every((row) => row.id !== id));
  return [...knownRows, ...(unknownIds as OutcomeId[]).map(outcomeOf)].map(
    ({ id: outcome, promised, when }) => {
      const { count, isCovered: covered } = counted.outcomes[outcome] ?? { count: 0, isCovered: false };
      return { outcome, promised, covered, count, when, howToCover: covered ? null : hints(outcome) };
    },
  );
}

const maxPlaces = 5;

function reportedAdvice(
  counted: Counts,
  served: readonly Endpoint[],
  invocation: Invocation,
  keysInOutput: readonly string[],
): ReportedAdvice[] {
  const rows = adviceTable.map(({ id, level, rule, meaning, whatToDo }): ReportedAdvice => {
    const { count, examples } = counted.advice[id] ?? { count: 0, examples: [] };
    const requests = examples.map((request) => {
      const suggestion =
        id === "wrong-method-or-path" && suggestEndpoint(request.method, request.path, served);
      return { ...request, at: isoOf(request.at), didYouMean: suggestion || null };
    });
    const fix = withNames(whatToDo, served, invocation);
    const advice = { id, level, rule, count, meaning, whatToDo: fix, examples: requests };
    if (id !== "key-in-output" || keysInOutput.length === 0) return advice;
    const places = listed(keysInOutput.slice(0, maxPlaces), "and");
    return { ...advice, count: keysInOutput.length, meaning: `${meaning} First: ${places}.` };
  });
  return rows.filter(({ count }) => count > 0);
}

/** Returns the covered shares of the promised outcomes, of the announced endpoints and of the faults. */
function sharesOf(
  outcomes: readonly ReportedOutcome[],
  endpoints: readonly ReportedEndpoint[],
): Pick<Report, "coverage" | "announced" | "faults"> {
  const share = (chosen: readonly ReportedOutcome[]) => ({
    covered: chosen.filter((row) => row.covered).length,
    total: chosen.length,
  });
  const { covered, total: promised } = share(outcomes.filter((row) => row.promised));
  const announced = endpoints.filter(({ release }) => release === "announced");
  return {
    coverage: { percent: Math.floor((covered * 100) / promised), covered, promised },
    announced: { covered: announced.filter(({ covered }) => covered).length, total: announced.length },
    faults: share(outcomes.filter(({ outcome }) => isFault(outcome))),
  };
}

/**
 * Suggests a method and path of the API for an unknown one; `undefined` if none of these endpoints is similar.
 *
 * @example
 * suggestEndpoint("GET", "/v1/Relying-Party/me/", endpoints); // "GET /v1/relying-party/me"
 */
export function suggestEndpoint(
  method: string,
  path: string,
  endpoints: readonly Endpoint[],
): string | undefined {
  const route = routeAt(endpoints, path) ?? routeAt(endpoints, nearestPath(path, endpoints) ?? "");
  if (route === undefined) return undefined;
  const methods = [...route.methods.keys()];
  const suggestion = `${methods.includes(method) ? method : methods[0]} ${route.path}`;
  // A scenario that started later has this endpoint.
  return suggestion === `${method} ${path}` ? undefined : suggestion;
}

function nearestPath(path: string, endpoints: readonly Endpoint[]): string | undefined {
  const paths = endpoints.map((endpoint) => endpoint.path);
  const normalized = path.toLowerCase().replace(/\/+/g, "/").replace(/\/$/, "");
  const nameOf = (one: string) => one.slice(one.lastIndexOf("/") + 1);
  // The same endpoint under another parent, or with a suffix.
  const related = (one: string) =>
    nameOf(normalized) === nameOf(one) ||
    normalized.startsWith(`${one}/`) ||
    normalized.startsWith(`${one}.`);
  return paths.find(related) ?? nearest(normalized, paths);
}

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
