import { endpointsIn, fillPlaceholders, routeAt } from "../api/endpoints.js";
import { ownAssumptionNames } from "../api/variation/vary.js";
import { adviceTable } from "../rules/advice.js";
import { isFault } from "../rules/fault-effects.js";
import { isSuccess, type Outcome, type OutcomeId, outcomeRow, outcomes } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import { type Endpoint, successOutcomesOf } from "../sandbox/call.js";
import { type Counters, type Counts, requestsTo } from "../sandbox/journal/counts.js";
import { runDue } from "../sandbox/operations/operations.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { nearest } from "../schema/words.js";
import { howToCoverEach } from "./how-to-cover.js";
import type {
  Report,
  ReportedAdvice,
  ReportedEndpoint,
  ReportedOutcome,
  ReportedRequest,
} from "./report-shape.js";

/**
 * The report of what clients have sent to a sandbox. `counters` are those of its requests; a client's run has its own, since the
 * client may clear the sandbox's. `underExec`: the sandbox of a run has already stopped.
 */
export function clientReport(
  sandbox: SandboxState,
  counters: Pick<Counters, "read"> = sandbox.counters,
  underExec = false,
): Report {
  runDue(sandbox);
  const counted = counters.read();

  const outcomes = reportedOutcomes(counted, sandbox, underExec);
  const endpoints = reportedEndpoints(counted, sandbox.endpoints, outcomes);
  return {
    scenario: sandbox.name,
    seed: sandbox.seed,
    profile: sandbox.profileInEffect,
    pinned: ownAssumptionNames(sandbox),
    requests: counted.requests,
    unread: counted.unread,
    ...sharesOf(outcomes, endpoints),
    endpoints,
    outcomes,
    advice: reportedAdvice(counted, sandbox),
    resends: counted.resends,
  };
}

/** All outcomes, with the requests that ended on each. */
function reportedOutcomes(counted: Counts, sandbox: SandboxState, underExec: boolean): ReportedOutcome[] {
  const rows = [...allOutcomesOf(sandbox.endpoints)];
  // A client may have covered an endpoint that only an earlier scenario had.
  const knownIds = new Set<string>();
  for (const { id } of rows) knownIds.add(id);
  for (const id of Object.keys(counted.outcomes) as OutcomeId[]) {
    if (!knownIds.has(id)) rows.push(outcomeRow(id));
  }

  const isCovered = (id: OutcomeId) => counted.outcomes[id]?.isCovered ?? false;
  const openIds: OutcomeId[] = [];
  for (const { id } of rows) {
    if (!isCovered(id)) openIds.push(id);
  }
  const instructions = howToCoverEach(sandbox, openIds, underExec);

  const outcomes: ReportedOutcome[] = [];
  for (const { id, promised, when } of rows) {
    const count = counted.outcomes[id]?.count ?? 0;
    const howToCover = instructions.get(id) ?? null;
    const covered = isCovered(id);
    outcomes.push({ outcome: id, promised, covered, count, when, howToCover });
  }
  return outcomes;
}

/** The endpoints of the sandbox, with the requests to each. */
function reportedEndpoints(
  counted: Counts,
  served: readonly Endpoint[],
  outcomes: readonly ReportedOutcome[],
): ReportedEndpoint[] {
  const coveredIds = new Set<string>();
  for (const { outcome, covered } of outcomes) {
    if (covered) coveredIds.add(outcome);
  }

  // A scenario without endpoints has only the released ones.
  const released = endpointsIn({});
  const endpoints: ReportedEndpoint[] = [];
  for (const endpoint of served) {
    const { method, path, operationId } = endpoint;
    const release = released.includes(endpoint) ? "released" : "announced";
    const requests = requestsTo(counted, operationId);
    const covered = successOutcomesOf(endpoint).some((id) => coveredIds.has(id));
    endpoints.push({ method, path, operationId, release, requests, covered });
  }
  return endpoints;
}

/** The advice that requests caused. */
function reportedAdvice(counted: Counts, sandbox: SandboxState): ReportedAdvice[] {
  const { endpoints, invocation } = sandbox;
  const reported: ReportedAdvice[] = [];
  for (const { id, level, rule, meaning, ...row } of adviceTable) {
    const ofRequests = counted.advice[id];
    if (ofRequests === undefined) continue;

    const { count } = ofRequests;
    const examples: ReportedRequest[] = [];
    for (const request of ofRequests.examples) {
      let didYouMean: string | null = null;
      if (id === "wrong-method-or-path") {
        didYouMean = suggestEndpoint(request.method, request.path, sandbox) ?? null;
      }
      examples.push({ ...request, at: isoTime(request.at), didYouMean });
    }
    const whatToDo = fillPlaceholders(row.whatToDo, endpoints, invocation);
    reported.push({ id, level, rule, count, meaning, whatToDo, examples });
  }
  return reported;
}

/**
 * Suggests a method and path of the API for an unknown one; `undefined` if no endpoint of the sandbox is similar.
 *
 * @example
 * suggestEndpoint("GET", "/v1/Relying-Party/me/", sandbox); // "GET /v1/relying-party/me"
 */
function suggestEndpoint(
  method: string,
  path: string,
  { endpoints, routes }: Pick<SandboxState, "endpoints" | "routes">,
): string | undefined {
  // The path of an endpoint also reaches its route: `/things/{id}` as a request has `{id}` as the value of its parameter.
  const similarPath = findSimilarPath(path, endpoints);
  const route = routeAt(routes, path) ?? (similarPath && routeAt(routes, similarPath));
  if (!route) return undefined;

  const methods = [...route.methods.keys()];
  const suggestedMethod = methods.includes(method) ? method : methods[0];
  const suggestion = `${suggestedMethod} ${route.path}`;
  // The API has the method and path now. It did not when the request was sent, in another scenario.
  if (suggestion === `${method} ${path}`) return undefined;
  return suggestion;
}

/** The path of an endpoint that is like this one, in whatever case. */
function findSimilarPath(path: string, endpoints: readonly Endpoint[]): string | undefined {
  // A typing error: `/v1/relying-party//mee`.
  const endpointPaths = endpoints.map((endpoint) => endpoint.path);
  const nearestPath = nearest(path.replace(/\/+/g, "/"), endpointPaths);
  if (nearestPath !== undefined) return nearestPath;

  // The endpoint's name elsewhere, or with something behind it: `/v2/me`, `/v1/relying-party/me.json`, `/me/limits`.
  const pathsByName = new Map<string | undefined, string>();
  for (const endpointPath of endpointPaths) {
    const name = namesIn(endpointPath).at(-1);
    if (!pathsByName.has(name)) pathsByName.set(name, endpointPath);
  }
  const lastKnownName = namesIn(path).findLast((name) => pathsByName.has(name));
  return pathsByName.get(lastKnownName);
}

/** The names in a path: `v1` and `items` in `/V1//Items.json/`. */
function namesIn(path: string): string[] {
  const names: string[] = [];
  for (const segment of path.toLowerCase().split("/")) {
    const [name = ""] = segment.split(".");
    if (name !== "") names.push(name);
  }
  return names;
}

/** The covered shares of the promised outcomes, of the announced endpoints and of the faults. */
export function sharesOf(
  outcomes: readonly ReportedOutcome[],
  endpoints: readonly ReportedEndpoint[],
): Pick<Report, "coverage" | "announced" | "faults"> {
  const shareOf = (rows: readonly { readonly covered: boolean }[]) => {
    return { covered: rows.filter((row) => row.covered).length, total: rows.length };
  };
  const promised = shareOf(outcomes.filter((row) => row.promised));
  const announced = shareOf(endpoints.filter((endpoint) => endpoint.release === "announced"));
  const faults = shareOf(outcomes.filter(({ outcome }) => isFault(outcome)));

  // Nothing is covered if nothing is promised, as in a damaged report: no threshold is reached with it.
  const percent = promised.total === 0 ? 0 : Math.floor((promised.covered * 100) / promised.total);
  const coverage = { percent, covered: promised.covered, promised: promised.total };
  return { coverage, announced, faults };
}

/** The outcomes that a client of a scenario can be expected to cover: the promised ones, and the successes of its endpoints. */
export function outcomesToCover(scenario: Pick<Scenario, "endpoints">): OutcomeId[] {
  const toCover: OutcomeId[] = [];
  for (const { id, promised } of allOutcomesOf(endpointsIn(scenario))) {
    if (promised || isSuccess(id)) toCover.push(id);
  }
  return toCover;
}

/** The rows of all outcomes of these endpoints: their successes, of which those of announced endpoints are not promised, then the rejections and faults. */
export function allOutcomesOf(endpoints: readonly Endpoint[]): readonly Outcome[] {
  const rows: Outcome[] = [];
  for (const endpoint of endpoints) {
    for (const id of successOutcomesOf(endpoint)) rows.push(outcomeRow(id));
  }
  for (const row of outcomes) {
    if (!isSuccess(row.id)) rows.push(row);
  }
  return rows;
}
