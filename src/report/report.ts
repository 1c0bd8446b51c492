import { type Endpoint, successPathsOf } from "../api/endpoint.js";
import { builtIn, endpointsOf, outcomesOf, routeAt, withEndpoints } from "../api/routes.js";
import { pinnedAssumptions } from "../api/variation/vary.js";
import { adviceIds, adviceTable } from "../rules/advice.js";
import { isFault, outcomeOf, type PathId } from "../rules/outcomes.js";
import { listed, nearest } from "../rules/schema/words.js";
import { profileOf } from "../sandbox/conditions.js";
import type { Counters } from "../sandbox/journal/counts.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type {
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedPath,
  ReportedRepeat,
} from "./report-shape.js";
import { howToCover } from "./reproduce.js";

/** `keysInOutput` are the places of keys in a command's output, `counters` those of a client that may clear the sandbox's own. */
export function clientReport(
  sandbox: SandboxState,
  { underExec = false, keysInOutput = [] }: { underExec?: boolean; keysInOutput?: readonly string[] } = {},
  counters: Pick<Counters, "read" | "curlOptions"> = sandbox.counters,
): Report {
  const running = runDue(sandbox);
  const counted = counters.read();
  const hints = howToCover(running, { curlOptions: counters.curlOptions, underExec });
  const served = endpointsOf(running);
  const knownOutcomes = outcomesOf(served);
  // A custom handler, or an endpoint that an earlier scenario had.
  const others = Object.keys(counted.paths).filter((id) => knownOutcomes.every(({ path }) => path !== id));
  const rows = [...knownOutcomes, ...(others as PathId[]).map(outcomeOf)];
  const paths = rows.map(({ path, promised, when }): ReportedPath => {
    const pathId = path as PathId;
    const { count, isCovered: covered } = counted.paths[pathId] ?? { count: 0, isCovered: false };
    return { pathId, promised, covered, count, when, howToCover: covered ? null : hints(pathId) };
  });
  const isCovered = (id: string) => paths.some(({ pathId, covered }) => covered && pathId === id);
  const endpoints = served.map((one): ReportedEndpoint => {
    const { method, path, operationId } = one;
    const requests = counted.endpoints[operationId] ?? 0;
    const covered = successPathsOf(one).some(isCovered);
    const release = builtIn.includes(one) ? "released" : "announced";
    return { method, path, operationId, release, requests, covered };
  });
  const advice = adviceTable.map(({ id, level, rule, meaning, whatToDo }) => {
    const { count, examples } = counted.advice[id] ?? { count: 0, examples: [] };
    const requests = examples.map((request) => {
      const suggestion =
        id === "wrong-method-or-path" && suggestEndpoint(request.method, request.path, served);
      return { ...request, at: new Date(request.at).toISOString(), didYouMean: suggestion || null };
    });
    const fix = withEndpoints(whatToDo, served);
    const advice = { id, level, rule, count, meaning, whatToDo: fix, examples: requests };
    if (id !== "key-in-output" || keysInOutput.length === 0) return advice;
    const places = listed(keysInOutput.slice(0, maxExamples), "and");
    return { ...advice, count: keysInOutput.length, meaning: `${meaning} First: ${places}.` };
  });
  return {
    scenario: running.name,
    seed: running.seed,
    profile: profileOf(running),
    pinned: pinnedAssumptions(running),
    requests: counted.requests,
    unread: counted.unread,
    ...sharesOf(paths, endpoints),
    endpoints,
    paths,
    advice: advice.filter(({ count }) => count > 0),
    repeats: counted.repeats,
  };
}

/** Returns the covered shares of the promised paths, of the announced endpoints and of the faults. */
function sharesOf(
  paths: readonly ReportedPath[],
  endpoints: readonly ReportedEndpoint[],
): Pick<Report, "coverage" | "announced" | "faults"> {
  const share = (chosen: readonly ReportedPath[]) => ({
    covered: chosen.filter((row) => row.covered).length,
    total: chosen.length,
  });
  const { covered, total: promised } = share(paths.filter((row) => row.promised));
  const announced = endpoints.filter(({ release }) => release === "announced");
  return {
    coverage: { percent: Math.floor((covered * 100) / promised), covered, promised },
    announced: { covered: announced.filter(({ covered }) => covered).length, total: announced.length },
    faults: share(paths.filter(({ pathId }) => isFault(pathId))),
  };
}

const maxExamples = 5;

/** Merges the reports of one or more runs: a path is covered if any run has covered it. */
export function mergeReports(reports: readonly [Report, ...Report[]]): Report {
  const [first] = reports;
  const runs = reports.flatMap(
    ({ runs, scenario, seed, profile, pinned }) => runs ?? [{ scenario, seed, profile, pinned }],
  );
  const paths = groupsOf(
    reports.flatMap((report) => report.paths),
    ({ pathId }) => pathId,
  ).map((rows): ReportedPath => {
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
    ...sharesOf(paths, endpoints),
    endpoints,
    paths,
    advice,
    repeats: mergeRepeats(reports.flatMap(({ repeats }) => repeats)),
  };
  return { ...first, ...merged };
}

/** The rows with the same id, in the order of their first ones. */
export function groupsOf<Row>(rows: readonly Row[], idOf: (row: Row) => string): [Row, ...Row[]][] {
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
    const id = `${repeat.pathId} ${repeat.key ?? repeat.fingerprint}`;
    merged.set(id, { ...repeat, count: repeat.count + (merged.get(id)?.count ?? 0) });
  }
  return [...merged.values()];
}

function sum<Row>(rows: readonly Row[], numberOf: (row: Row) => number): number {
  return rows.reduce((total, row) => total + numberOf(row), 0);
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
