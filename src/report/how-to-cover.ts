import { nextRequest } from "../api/next-request.js";
import { keyVariable } from "../rules/key-text.js";
import { mePath } from "../rules/known-paths.js";
import type { OutcomeId } from "../rules/outcomes.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { announcedKeys } from "../sandbox/secrets.js";
import { checkedStart, startSandbox } from "../sandbox/start-sandbox.js";
import { bundledScenarios, type ScenarioName } from "../scenario/bundled.js";
import { certainOutcomes, type ExpectedRequest } from "./certain-outcomes.js";
import { curlLine, type RequestToSend } from "./curl-line.js";
import { requestTo, unknownPathOf, unusedMethodOfMe } from "./example-requests.js";
import type { HowToCover } from "./report-shape.js";

/** The bundled scenarios to try for outcomes that no request to the running sandbox covers. */
const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day"];

/** For each outcome that can be covered, the first request that always covers it. */
type RequestsByOutcome = ReadonlyMap<OutcomeId, RequestToSend>;

/** What to do before a request is sent. */
type Preparation =
  | { readonly kind: "none" }
  | { readonly kind: "reset" }
  | { readonly kind: "start" | "run_exec"; readonly scenario: ScenarioName };

interface PreparedRequest {
  readonly preparation: Preparation;
  readonly request: RequestToSend;
}

interface HowToCoverOptions {
  /** Under `exec`, the sandbox has already stopped. */
  readonly underExec: boolean;
}

/** How to cover each of these outcomes; without those that nothing covers for certain. */
export function howToCoverEach(
  sandbox: SandboxState,
  outcomes: readonly OutcomeId[],
  options: HowToCoverOptions,
): ReadonlyMap<OutcomeId, HowToCover> {
  const requests = requestsByOutcome(sandbox);
  const instructions = new Map<OutcomeId, HowToCover>();
  for (const outcome of outcomes) {
    const prepared = findRequest(sandbox, outcome, requests, options);
    if (prepared !== undefined) instructions.set(outcome, instruction(sandbox, outcome, prepared));
  }
  return instructions;
}

/** A request that covers an outcome: now, or after a start or a reset. */
function findRequest(
  sandbox: SandboxState,
  outcome: OutcomeId,
  requests: RequestsByOutcome,
  { underExec }: HowToCoverOptions,
): PreparedRequest | undefined {
  const requestNow = requests.get(outcome);
  if (requestNow !== undefined) return { preparation: { kind: "none" }, request: requestNow };

  for (const scenario of fallbackScenarios) {
    const request = requestsOfBundled(scenario, sandbox.platform).get(outcome);
    if (request === undefined) continue;
    if (underExec) return { preparation: { kind: "run_exec", scenario }, request };
    // A reset starts the scenario of the sandbox again.
    if (scenario === sandbox.name) return { preparation: { kind: "reset" }, request };
    return { preparation: { kind: "start", scenario }, request };
  }
  return undefined;
}

function requestsByOutcome(sandbox: SandboxState): RequestsByOutcome {
  const byOutcome = new Map<OutcomeId, RequestToSend>();
  for (const expected of [...requestsWithKeys(sandbox), ...requestsWithoutKeys(sandbox)]) {
    for (const outcome of certainOutcomes(sandbox, expected)) {
      if (!byOutcome.has(outcome)) byOutcome.set(outcome, expected.request);
    }
  }
  return byOutcome;
}

/** Kept, because bundled scenarios never change: to start one takes longer than the rest of a report. */
const keptRequests = new Map<ScenarioName, RequestsByOutcome>();

/** The requests to a bundled scenario. */
function requestsOfBundled(name: ScenarioName, platform: SandboxState["platform"]): RequestsByOutcome {
  let requests = keptRequests.get(name);
  if (requests === undefined) {
    const start = checkedStart({ scenario: bundledScenarios[name], name }, {}, { platform });
    requests = requestsByOutcome(startSandbox(start));
    keptRequests.set(name, requests);
  }
  return requests;
}

/** A request to each endpoint with each key that is in the environment of clients. */
function requestsWithKeys(sandbox: SandboxState): ExpectedRequest[] {
  const { keys } = announcedKeys(sandbox);
  const requests: ExpectedRequest[] = [];
  for (const endpoint of sandbox.endpoints) {
    const target = requestTo(endpoint, sandbox.endpoints);
    for (const { ref } of keys) {
      const entry = sandbox.registry.key(ref);
      const { outcome } = nextRequest(sandbox, ref, endpoint);
      requests.push({ request: { ref, ...target }, outcome, entry, endpoint });
    }
  }
  return requests;
}

/** The requests without a key of the sandbox. */
function requestsWithoutKeys({ endpoints }: SandboxState): ExpectedRequest[] {
  const requests: ExpectedRequest[] = [
    { request: { ref: "none", path: mePath }, outcome: "401.missing" },
    { request: { ref: "malformed", path: mePath }, outcome: "401.malformed" },
    { request: { ref: "unknown", path: mePath }, outcome: "401.unknown" },
    { request: { ref: "none", path: unknownPathOf(endpoints) }, outcome: "404.unknown_path" },
  ];
  const method = unusedMethodOfMe(endpoints);
  if (method !== undefined) {
    requests.push({ request: { ref: "none", method, path: mePath }, outcome: "405.method" });
  }
  return requests;
}

function instruction(sandbox: SandboxState, outcome: OutcomeId, prepared: PreparedRequest): HowToCover {
  const { preparation } = prepared;
  const { ref, method = "GET", path } = prepared.request;
  const send = sendingInWords(ref, method, path);
  const toDoFirst = preparationInWords(preparation, sandbox.invocation.curlOptions);
  return {
    ref,
    request: { method, path },
    scenario: preparation.kind === "start" || preparation.kind === "run_exec" ? preparation.scenario : null,
    reset: preparation.kind === "reset",
    text: toDoFirst === "" ? send : `${toDoFirst}, then ${send}`,
    curl: curlLine(prepared.request, sandbox.invocation.curlOptions, outcome),
  };
}

/** What to do before a request is sent, in words; empty if nothing is to do. */
function preparationInWords(preparation: Preparation, curlOptions: string): string {
  switch (preparation.kind) {
    case "none":
      return "";
    case "reset": {
      const words = ["curl"];
      if (curlOptions !== "") words.push(curlOptions);
      words.push("-X POST -H content-type:application/json $SVC_CONTROL_URL/reset");
      return `reset the sandbox (${words.join(" ")})`;
    }
    case "start":
      return `start the scenario ${preparation.scenario}`;
    case "run_exec":
      return `run exec with the scenario ${preparation.scenario}`;
  }
}

/** What to send, in words: with its method and path unless it is the usual request. */
function sendingInWords(ref: string, method: string, path: string): string {
  const isUsual = method === "GET" && path === mePath;
  if (isUsual) return ref === "none" ? "send no key" : `send ${keyVariable(ref)}`;
  const key = ref === "none" ? "without a key" : `with ${keyVariable(ref)}`;
  return `send ${method} ${path} ${key}`;
}
