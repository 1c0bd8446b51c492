import { routeAt } from "../api/endpoints.js";
import { nextRequest } from "../api/next-request.js";
import { faultKindRow } from "../rules/fault-effects.js";
import type { ApiOutcomeId, OutcomeId } from "../rules/outcomes.js";
import { mePath } from "../rules/paths.js";
import type { Endpoint } from "../sandbox/call.js";
import { faultFacts, faultsAhead } from "../sandbox/faults.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { keyInWords, type SandboxState } from "../sandbox/sandbox-state.js";
import { firstKeys } from "../sandbox/secrets.js";
import { prepareStart, startSandbox } from "../sandbox/start-sandbox.js";
import { bundledScenarios, type ScenarioName } from "../scenario/bundled.js";
import type { ControlBody } from "../scenario/format/inputs.js";
import { curlLine } from "./curl-line.js";
import type { HowToCover } from "./report-shape.js";

// How to cover an outcome: a request that ends on it for certain, now, or after a reset or the start of a bundled scenario.

/** The bundled scenarios to try for outcomes that no request to the running sandbox covers. */
const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day"];

/** What to do before a request is sent: for programs, and in words, which are empty if nothing is to do. */
interface Preparation extends Pick<HowToCover, "scenario" | "reset"> {
  readonly words: string;
}

/** How to cover each of these outcomes; without those that nothing covers for certain. `underExec`: the sandbox has already stopped. */
export function howToCoverEach(
  sandbox: SandboxState,
  outcomes: readonly OutcomeId[],
  underExec: boolean,
): ReadonlyMap<OutcomeId, HowToCover> {
  const requestsNow = requestsByOutcome(sandbox);
  const instructions = new Map<OutcomeId, HowToCover>();
  for (const outcome of outcomes) {
    const requestNow = requestsNow.get(outcome);
    if (requestNow !== undefined) {
      const nothing: Preparation = { scenario: null, reset: false, words: "" };
      instructions.set(outcome, instruction(sandbox, outcome, requestNow, nothing));
      continue;
    }

    for (const scenario of fallbackScenarios) {
      const request = requestsOfBundled(scenario, sandbox.platform).get(outcome);
      if (request === undefined) continue;
      const preparation = preparationFor(sandbox, scenario, underExec);
      instructions.set(outcome, instruction(sandbox, outcome, request, preparation));
      break;
    }
  }
  return instructions;
}

/** How a bundled scenario starts. */
function preparationFor(sandbox: SandboxState, scenario: ScenarioName, underExec: boolean): Preparation {
  if (underExec) return { scenario, reset: false, words: `run exec with the scenario ${scenario}` };

  // A reset starts the scenario of the sandbox again, and a user's own one may have the name of a bundled one.
  const contentOf = ({ organizations, faults }: SandboxState["scenario"]) =>
    JSON.stringify([organizations, faults]);
  const isRunning =
    scenario === sandbox.name && contentOf(sandbox.scenario) === contentOf(bundledScenarios[scenario]);
  if (!isRunning) return { scenario, reset: false, words: `start the scenario ${scenario}` };

  const { curlOptions, isInTest } = sandbox.invocation;
  if (isInTest) return { scenario: null, reset: true, words: "call sandbox.reset()" };
  const curl = curlOptions === "" ? "curl" : `curl ${curlOptions}`;
  const call = `${curl} -X POST -H content-type:application/json $SVC_CONTROL_URL/reset`;
  return { scenario: null, reset: true, words: `reset the sandbox (${call})` };
}

function instruction(
  sandbox: SandboxState,
  outcome: OutcomeId,
  toSend: ControlBody<"sending">,
  { scenario, reset, words }: Preparation,
): HowToCover {
  const { key: ref, method = "GET", path = mePath } = toSend;
  const key = keyInWords(ref, sandbox.invocation);

  // In words: with its method and path unless it is the usual request.
  const isUsual = method === "GET" && path === mePath;
  let send: string;
  if (isUsual) send = ref === "none" ? "send no key" : `send ${key}`;
  else send = `send ${method} ${path} ${ref === "none" ? "without a key" : `with ${key}`}`;

  return {
    ref,
    request: { method, path },
    scenario,
    reset,
    text: words === "" ? send : `${words}, then ${send}`,
    curl: curlLine(toSend, sandbox.invocation.curlOptions, outcome),
  };
}

/** For each outcome that can be covered, the first request that always covers it. */
type RequestsByOutcome = ReadonlyMap<OutcomeId, ControlBody<"sending">>;

/** Kept, because bundled scenarios never change: to start one takes longer than the rest of a report. */
const keptRequests = new Map<ScenarioName, RequestsByOutcome>();

/** The requests to a bundled scenario. */
function requestsOfBundled(name: ScenarioName, platform: SandboxState["platform"]): RequestsByOutcome {
  let requests = keptRequests.get(name);
  if (requests === undefined) {
    const source = { scenario: bundledScenarios[name], name };
    const start = prepareStart({ source, platform });
    requests = requestsByOutcome(startSandbox(start));
    keptRequests.set(name, requests);
  }
  return requests;
}

function requestsByOutcome(sandbox: SandboxState): RequestsByOutcome {
  const byOutcome = new Map<OutcomeId, ControlBody<"sending">>();
  for (const expected of [...requestsWithKeys(sandbox), ...requestsWithoutKeys(sandbox)]) {
    for (const outcome of certainOutcomes(sandbox, expected)) {
      if (!byOutcome.has(outcome)) byOutcome.set(outcome, expected.request);
    }
  }
  return byOutcome;
}

/** A request that a user can send, and the outcome that it has without faults. */
interface ExpectedRequest {
  readonly request: ControlBody<"sending">;
  readonly outcome: ApiOutcomeId;
  /** Its key. Default: none of the sandbox. */
  readonly entry?: KeyEntry;
  /** Default: the request reaches no endpoint, or is rejected before its endpoint matters. */
  readonly endpoint?: Endpoint;
}

/** A request to each endpoint with each key that is in the environment of clients. */
function requestsWithKeys(sandbox: SandboxState): ExpectedRequest[] {
  const { keys } = firstKeys(sandbox);
  const requests: ExpectedRequest[] = [];
  for (const endpoint of sandbox.endpoints) {
    const { method } = endpoint;
    const path = pathTo(endpoint, sandbox);
    for (const { ref } of keys) {
      const entry = sandbox.registry.key(ref);
      const { outcome } = nextRequest(sandbox, ref, endpoint);
      const request = { key: ref, ...(method !== "GET" && { method }), path };
      requests.push({ request, outcome, entry, endpoint });
    }
  }
  return requests;
}

/**
 * The path of a request to an endpoint. Each parameter in it has the value 1, or the next number if another endpoint is at that
 * path: `/v1/items/{id}` has 2 if there is `/v1/items/1`.
 */
function pathTo(endpoint: Endpoint, { endpoints, routes }: SandboxState): string {
  // Each other endpoint is at one of these paths at most, so that one of as many paths as there are endpoints is free.
  let path = endpoint.path;
  for (let value = 1; value <= endpoints.length; value += 1) {
    path = endpoint.path.replace(/\{[^{}]*\}/g, String(value));
    const reached = routeAt(routes, path)?.methods.get(endpoint.method);
    if (reached === endpoint) break;
  }
  return path;
}

/** The requests without a key of the sandbox. */
function requestsWithoutKeys({ routes }: SandboxState): ExpectedRequest[] {
  // A path that no endpoint has: a scenario may have one at `/v1/relying-party/{id}`.
  let unknownPath = "/v1/relying-party/nothing";
  while (routeAt(routes, unknownPath) !== undefined) unknownPath += "/nothing";
  const requests: ExpectedRequest[] = [
    { request: { key: "none", path: mePath }, outcome: "401.missing" },
    { request: { key: "malformed", path: mePath }, outcome: "401.malformed" },
    { request: { key: "unknown", path: mePath }, outcome: "401.unknown" },
    { request: { key: "none", path: unknownPath }, outcome: "404.unknown_path" },
  ];

  // A method that the path of `/me` does not accept, unless a scenario has them all.
  const methods = routeAt(routes, mePath)?.methods;
  const method = ["DELETE", "PUT", "PATCH", "POST"].find((unused) => !methods?.has(unused));
  if (method !== undefined) {
    requests.push({ request: { key: "none", method, path: mePath }, outcome: "405.method" });
  }
  return requests;
}

/**
 * The outcomes that a request covers for certain, whatever the active faults do. A latency on every second request leaves its 200
 * certain, a reset on every second one leaves nothing certain. A latency on every request makes both 200 and the latency certain.
 */
function certainOutcomes(sandbox: SandboxState, expected: ExpectedRequest): OutcomeId[] {
  const { outcome, entry, endpoint } = expected;
  const call = { entry, endpoint, now: sandbox.clock.now() };
  const facts = faultFacts(call, endpoint?.method, () => outcome);
  const faults = faultsAhead(sandbox.faults, facts);

  const certain: OutcomeId[] = [];
  // A delayed response keeps its outcome; any other fault replaces the response.
  const isOutcomeKept = faults.every((fault) => faultKindRow(fault.outcome).onlyDelays);
  if (isOutcomeKept) certain.push(outcome);

  // Some fault hits the request for certain, and whichever it is, it has this outcome.
  const [firstFault] = faults;
  if (firstFault === undefined) return certain;
  const isFaultCertain = faults.some((fault) => fault.isCertain);
  const areAllAlike = faults.every((fault) => fault.outcome === firstFault.outcome);
  if (isFaultCertain && areAllAlike) certain.push(firstFault.outcome);
  return certain;
}
