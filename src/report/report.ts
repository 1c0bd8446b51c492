import { type Endpoint, type KeylessRequest, successPathOf, successPathsOf } from "../api/endpoint.js";
import { evaluateKey } from "../api/evaluate.js";
import { scopeOf } from "../api/response.js";
import { builtIn, endpointsOf, firstEndpoint, outcomesOf, routeAt, withEndpoints } from "../api/routes.js";
import { pinnedAssumptions } from "../api/variation/vary.js";
import { adviceIds, adviceTable } from "../rules/advice.js";
import { variableOf } from "../rules/api-key.js";
import { effectAt, type FaultEffect, faultEffects, mainEffectOf } from "../rules/fault-effects.js";
import { type ApiPathId, isFault, isSuccess, outcomeOf, type PathId } from "../rules/outcomes.js";
import { listed, nearest } from "../rules/schema/words.js";
import { profileOf } from "../sandbox/conditions.js";
import { meetsCondition } from "../sandbox/faults.js";
import type { Counters } from "../sandbox/journal/counts.js";
import type { KeyEntry } from "../sandbox/keys.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { announcedKeys } from "../sandbox/secrets.js";
import { startSandbox } from "../sandbox/start.js";
import { bundledScenarios, isScenarioName, type ScenarioName } from "../scenario/bundled.js";
import { shellUrl, shellWord } from "./plain-text.js";
import type {
  HowToCover,
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedPath,
  ReportedRepeat,
} from "./report-shape.js";

/** `keysInOutput` are the places of keys in a command's output, `counters` those of a client that may clear the sandbox's own. */
export function clientReport(
  sandbox: SandboxState,
  { underExec = false, keysInOutput = [] }: { underExec?: boolean; keysInOutput?: readonly string[] } = {},
  counters: Pick<Counters, "read" | "curlOptions"> = sandbox.counters,
): Report {
  runDue(sandbox);
  const counted = counters.read();
  const hints = howToCover(sandbox, { curlOptions: counters.curlOptions, underExec });
  const served = endpointsOf(sandbox);
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
    const release = (builtIn as readonly Endpoint[]).includes(one) ? "released" : "announced";
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
    scenario: sandbox.name,
    seed: sandbox.seed,
    profile: profileOf(sandbox),
    pinned: pinnedAssumptions(sandbox),
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

interface Reproduction extends KeylessRequest {
  readonly path: string;
  /** The variable with the key to send; `undefined` for no key. */
  readonly variable?: string;
  /** The ref of the key; `none`, `malformed` or `unknown` if the sandbox does not have it. */
  readonly ref: string;
  /** The path where it would end without faults. */
  readonly apiPath: ApiPathId;
  readonly fault?: FaultEffect;
  /** The scopes that the key must have, if it lacks one. Default: it lacks none. */
  readonly scopes?: readonly string[];
}

type Reproductions = ReadonlyMap<PathId, Reproduction>;

/** The bundled scenarios to try for paths that no request to the running sandbox covers. */
const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day"];

/** Shows how to cover a path: now, after a reset, or with a bundled scenario. Under `exec`, the sandbox has already stopped. */
function howToCover(
  sandbox: SandboxState,
  { curlOptions = "", underExec = false }: { curlOptions?: string; underExec?: boolean } = {},
): (pathId: PathId) => HowToCover | null {
  let running: Reproductions | undefined;
  const reproductionIn = (name: ScenarioName | undefined, pathId: PathId) => {
    if (name !== undefined) return reproductionsOf(name, sandbox.platform).get(pathId);
    running ??= reproductionsIn(sandbox);
    return running.get(pathId);
  };
  return (pathId) => {
    const name = [undefined, ...fallbackScenarios].find((one) => reproductionIn(one, pathId) !== undefined);
    const reproduction = reproductionIn(name, pathId) ?? withItsScope(sandbox, pathId);
    if (reproduction === undefined) return null;
    const { ref, variable, method = "GET", path, headers = {}, body = null, scopes } = reproduction;
    const text = variable === undefined ? "send no key" : `send ${variable}`;
    const reset = name === sandbox.name;
    const before = scopes === undefined ? name && beforeIt(name) : givingScopes(sandbox, ref, scopes);
    return {
      ref,
      request: { method, path, headers, body },
      scenario: name === undefined || reset ? null : name,
      reset,
      ...(scopes && { scopes: [...scopes] }),
      text: before === undefined ? text : `${before} ${text}`,
      curl: curlLine(reproduction, curlOptions, pathId),
    };
  };
  function beforeIt(name: ScenarioName): string {
    if (name === sandbox.name) {
      const options = `${curlOptions && `${curlOptions} `}-X POST -H content-type:application/json`;
      return `reset the sandbox (curl ${options} $SVC_CONTROL_URL/reset), then`;
    }
    return `${underExec ? "run exec with" : "start"} the scenario ${name}, then`;
  }
}

/** A success that only a missing scope prevents, with the first key of the scenario that could have it. */
function withItsScope(sandbox: SandboxState, pathId: PathId): Reproduction | undefined {
  const endpoint = endpointsOf(sandbox).find((one) => successPathOf(one, undefined) === pathId);
  const scope = endpoint && scopeOf(endpoint, sandbox);
  if (!endpoint || !scope) return undefined;
  for (const { ref } of announcedKeys(sandbox).keys) {
    const entry = sandbox.registry.key(ref);
    const { scopes, replaces, replacedBy } = entry.key;
    // The keys of a rotation have the same scopes.
    if ((replaces ?? replacedBy) || evaluateKey(sandbox, ref, endpoint).pathId !== "403.insufficient_scope")
      continue;
    const { method, path } = endpoint;
    const request = { ...(method !== "GET" && { method }), path, ...endpoint.example?.() };
    if (request.path.includes("{")) continue;
    return {
      ...request,
      ref,
      variable: variableOf(ref),
      apiPath: pathId as ApiPathId,
      scopes: [...scopes, scope],
    };
  }
  return undefined;
}

function givingScopes({ name, registry }: SandboxState, ref: string, scopes: readonly string[]): string {
  const { organization } = registry.key(ref).key;
  const where = isScenarioName(name) ? `in a scenario with extends: ${name}` : "in the scenario";
  return `${where}, write scopes: [${scopes.join(", ")}] for organizations.${organization}.keys.${ref}, then`;
}

// They never change, and creating a sandbox takes longer than the rest of a report.
const ofBundled = new Map<ScenarioName, Reproductions>();

function reproductionsOf(name: ScenarioName, platform: SandboxState["platform"]): Reproductions {
  const reproductions =
    ofBundled.get(name) ?? reproductionsIn(startSandbox(bundledScenarios[name], { platform, name }));
  ofBundled.set(name, reproductions);
  return reproductions;
}

// Returns a command for a shell.
function curlLine(found: Reproduction, curlOptions: string, pathId: PathId): string {
  const { variable, method, path, headers = {}, body } = found;
  const words = [
    "curl",
    curlOptions,
    // Without a timeout, curl would wait forever.
    effectAt(pathId)?.ends === "hang" && "-m 5",
    method !== undefined && `-X ${method}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    body !== undefined && `-d ${shellWord(body)}`,
    variable !== undefined && `-H "x-api-key: $${variable}"`,
    shellUrl(path),
  ];
  return words.filter(Boolean).join(" ");
}

/** Returns a request for each path that can be covered now: the first one that always covers it. */
function reproductionsIn(sandbox: SandboxState): Reproductions {
  const byPath = new Map<PathId, Reproduction>();
  type Sent = Omit<Reproduction, "apiPath" | "fault">;
  const add = (apiPath: ApiPathId, sent: Sent, entry?: KeyEntry) => {
    for (const { pathId, fault } of pathsWithFaults(sandbox, apiPath, entry)) {
      if (!byPath.has(pathId)) byPath.set(pathId, { ...sent, apiPath, ...(fault && { fault }) });
    }
  };
  const { path } = firstEndpoint(sandbox);
  // Only keys in the environment of clients.
  const { keys } = announcedKeys(sandbox);
  for (const endpoint of endpointsOf(sandbox)) {
    const method = endpoint.method === "GET" ? {} : { method: endpoint.method };
    const here = { ...method, path: endpoint.path };
    for (const { ref } of keys) {
      const entry = sandbox.registry.key(ref);
      const key = { variable: variableOf(ref), ref };
      const { pathId } = evaluateKey(sandbox, ref, endpoint);
      const sent = isSuccess(pathId) ? endpoint.example?.() : undefined;
      if (sent?.path !== undefined || !here.path.includes("{"))
        add(
          isSuccess(pathId) ? successPathOf(endpoint, pathId) : pathId,
          { ...key, ...here, ...sent },
          entry,
        );
    }
  }
  add("401.missing", { ref: "none", path });
  for (const word of ["malformed", "unknown"] as const) {
    add(`401.${word}`, { variable: variableOf(word), ref: word, path });
  }
  add("404.unknown_path", { ref: "none", path: "/v1/relying-party/nothing" });
  add("405.method", { ref: "none", method: "DELETE", path });
  return byPath;
}

/** Returns the paths that a request always covers with the active faults, if it would cover this one without faults. */
function pathsWithFaults(
  sandbox: SandboxState,
  apiPath: ApiPathId,
  entry: KeyEntry | undefined,
): { pathId: PathId; fault?: FaultEffect }[] {
  const facts = {
    key: entry?.key.ref,
    organization: entry?.key.organization,
    now: sandbox.clock.now(),
    expectedPath: () => apiPath,
  };
  let isFirst = true;
  for (const { when, effect } of sandbox.faults) {
    if (!meetsCondition(when, facts)) continue;
    const isCertain =
      when.every === undefined && when.requests === undefined && when.probability === undefined;
    const kind = mainEffectOf(effect);
    const { onlyDelays } = faultEffects[kind];
    const ends = isFirst ? [{ pathId: `fault.${kind}` as const, fault: effect }] : [];
    if (isCertain) return onlyDelays ? [{ pathId: apiPath }, ...ends] : ends;
    if (!onlyDelays) return [];
    isFirst = false;
  }
  return [{ pathId: apiPath }];
}
