import { requiredScope } from "../api/decide.js";
import { faultFacts } from "../api/fault-facts.js";
import { nextRequest } from "../api/next-request.js";
import { routeAt } from "../api/routes.js";
import { cachedByName } from "../rules/cached-by.js";
import { faultKindRow, faultOutcomeId } from "../rules/fault-effects.js";
import { keyVariable } from "../rules/key-text.js";
import { mePath } from "../rules/known-paths.js";
import { type ApiOutcomeId, isSuccess, type OutcomeId } from "../rules/outcomes.js";
import { type ActiveFault, isUsedUp, matchingEffect } from "../sandbox/active-faults.js";
import { type Endpoint, ownSuccessOf, successOutcomeOf } from "../sandbox/endpoint.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { announcedKeys } from "../sandbox/secrets.js";
import { checkedStart, startSandbox } from "../sandbox/start-sandbox.js";
import { bundledScenarios, isScenarioName, type ScenarioName } from "../scenario/bundled.js";
import { curlLine, type RequestToSend } from "./curl-line.js";
import type { HowToCover } from "./report-shape.js";

/** The bundled scenarios to try for outcomes that no request to the running sandbox covers. */
const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day"];

/** For each outcome that can be covered, the first request that always covers it. */
type Reproductions = ReadonlyMap<OutcomeId, RequestToSend>;

/** A request, and the outcome that it has without faults. */
interface ExpectedRequest {
  readonly sent: RequestToSend;
  readonly outcome: ApiOutcomeId;
  readonly entry?: KeyEntry;
  readonly endpoint?: Endpoint;
}

/** The requests without a key of the sandbox. */
function keylessRequests({ endpoints }: SandboxState): ExpectedRequest[] {
  const requests: ExpectedRequest[] = [
    { sent: { ref: "none", path: mePath }, outcome: "401.missing" },
    { sent: { ref: "malformed", path: mePath }, outcome: "401.malformed" },
    { sent: { ref: "unknown", path: mePath }, outcome: "401.unknown" },
    { sent: { ref: "none", path: unknownPathOf(endpoints) }, outcome: "404.unknown_path" },
  ];
  const method = unusedMethodOfMe(endpoints);
  if (method !== undefined) {
    requests.push({ sent: { ref: "none", method, path: mePath }, outcome: "405.method" });
  }
  return requests;
}

/** A path that no endpoint has: a scenario may have one at `/v1/relying-party/{id}`. */
function unknownPathOf(endpoints: readonly Endpoint[]): string {
  let path = "/v1/relying-party/nothing";
  while (routeAt(endpoints, path) !== undefined) path += "/nothing";
  return path;
}

/** A method that the path of `/me` does not accept; `undefined` if a scenario has them all. */
function unusedMethodOfMe(endpoints: readonly Endpoint[]): string | undefined {
  const methods = routeAt(endpoints, mePath)?.methods;
  return ["DELETE", "PUT", "PATCH", "POST"].find((method) => !methods?.has(method));
}

interface HintOptions {
  readonly curlOptions: string;
  /** Under `exec`, the sandbox has already stopped. */
  readonly underExec: boolean;
}

/** What to do before a request is sent. */
interface Preparation {
  /** The bundled scenario to start. Default: none. */
  readonly scenario?: ScenarioName;
  /** Whether to reset the sandbox. Default: false. */
  readonly reset?: boolean;
  /** The scopes to give the key. Default: none. */
  readonly scopes?: readonly string[];
  /** All of this as the start of a sentence. Default: nothing is to do. */
  readonly text?: string;
}

/** Shows how to cover the outcomes of a sandbox. */
export class CoverHints {
  readonly #sandbox: SandboxState;
  readonly #options: HintOptions;
  /** Found for the first outcome that is not covered. */
  #running: Reproductions | undefined;

  constructor(sandbox: SandboxState, options: HintOptions) {
    this.#sandbox = sandbox;
    this.#options = options;
  }

  /** How to cover an outcome: now, with a bundled scenario or after a reset, or with a scope; `null` if nothing covers it for certain. */
  hintFor(outcome: OutcomeId): HowToCover | null {
    const sandbox = this.#sandbox;
    const { curlOptions } = this.#options;
    this.#running ??= findReproductions(sandbox);
    const now = this.#running.get(outcome);
    if (now !== undefined) return instruction(now, outcome, curlOptions, {});

    for (const name of fallbackScenarios) {
      const later = bundledReproductions(name, sandbox.platform).get(outcome);
      if (later === undefined) continue;
      return instruction(later, outcome, curlOptions, startOrReset(name, sandbox, this.#options));
    }

    const scopedKey = keyToGiveScope(sandbox, outcome);
    if (scopedKey === undefined) return null;
    const { sent, scopes } = scopedKey;
    const text = scopesText(sandbox, sent.ref, scopes);
    return instruction(sent, outcome, curlOptions, { scopes, text });
  }
}

function findReproductions(sandbox: SandboxState): Reproductions {
  const byOutcome = new Map<OutcomeId, RequestToSend>();
  for (const expected of [...requestsWithKeys(sandbox), ...keylessRequests(sandbox)]) {
    for (const outcome of certainOutcomes(sandbox, expected)) {
      if (!byOutcome.has(outcome)) byOutcome.set(outcome, expected.sent);
    }
  }
  return byOutcome;
}

/** Those of a sandbox of a bundled scenario. They never change, and to start one takes longer than the rest of a report. */
const bundledReproductions = /* @__PURE__ */ cachedByName(
  (name: ScenarioName, platform: SandboxState["platform"]): Reproductions =>
    findReproductions(
      startSandbox(checkedStart({ scenario: bundledScenarios[name], name }, {}, { platform })),
    ),
);

/** A request to each endpoint with each key that is in the environment of clients. */
function requestsWithKeys(sandbox: SandboxState): ExpectedRequest[] {
  const { keys } = announcedKeys(sandbox);
  const requests: ExpectedRequest[] = [];
  for (const endpoint of sandbox.endpoints) {
    const target = requestTo(endpoint);
    for (const { ref } of keys) {
      const entry = sandbox.registry.key(ref);
      const next = nextRequest(sandbox, ref, endpoint);
      const outcome = isSuccess(next.outcome) ? successOutcomeOf(endpoint, next.outcome) : next.outcome;
      requests.push({ sent: { ref, ...target }, outcome, entry, endpoint });
    }
  }
  return requests;
}

/** A request to an endpoint, with 1 for each parameter of its path. */
function requestTo({ method, path }: Endpoint): Pick<RequestToSend, "method" | "path"> {
  return { ...(method !== "GET" && { method }), path: path.replace(/\{[^{}]*\}/g, "1") };
}

/** The outcomes that a request covers for certain with the active faults; none if a fault may replace its response. */
function certainOutcomes(sandbox: SandboxState, expected: ExpectedRequest): OutcomeId[] {
  const { outcome } = expected;
  const faults = possibleFaults(sandbox, expected);
  const [fault] = faults;
  if (fault === undefined) return [outcome];

  // A fault that hits this request for certain. A delayed request also has its own outcome.
  if (faults.length === 1 && fault.isCertain) {
    return fault.onlyDelays ? [outcome, fault.outcome] : [fault.outcome];
  }

  // Any of the faults may hit it, or none. If each of them only delays it, it has its own outcome in any case.
  return faults.every(({ onlyDelays }) => onlyDelays) ? [outcome] : [];
}

/** A fault that may hit a request. */
interface PossibleFault {
  readonly outcome: OutcomeId;
  readonly onlyDelays: boolean;
  /** Whether it fires on each request that it matches. */
  readonly isCertain: boolean;
}

/** The faults that may hit a request, which has one at most: the first that fires. So none after a certain one may hit it. */
function possibleFaults(sandbox: SandboxState, expected: ExpectedRequest): PossibleFault[] {
  const { entry, endpoint } = expected;
  const call = { entry, endpoint, now: sandbox.clock.now() };
  const facts = faultFacts(call, endpoint?.method, () => expected.outcome);

  const possible: PossibleFault[] = [];
  for (const fault of sandbox.faults) {
    const effect = matchingEffect(fault, facts);
    if (effect === undefined || isUsedUp(fault)) continue;
    const outcome = faultOutcomeId(effect);
    const { onlyDelays } = faultKindRow(outcome);
    const isCertain = firesAlways(fault);
    possible.push({ outcome, onlyDelays, isCertain });
    if (isCertain) break;
  }
  return possible;
}

/** What to do before a request to a sandbox of this bundled scenario. */
function startOrReset(name: ScenarioName, sandbox: SandboxState, options: HintOptions): Preparation {
  if (name !== sandbox.name) {
    const start = options.underExec ? "run exec with" : "start";
    return { scenario: name, text: `${start} the scenario ${name}, then` };
  }

  const words = ["curl"];
  if (options.curlOptions !== "") words.push(options.curlOptions);
  words.push("-X POST -H content-type:application/json $SVC_CONTROL_URL/reset");
  return { reset: true, text: `reset the sandbox (${words.join(" ")}), then` };
}

/** A request that succeeds once its key has these scopes. */
interface ScopedRequest {
  readonly sent: RequestToSend;
  readonly scopes: readonly string[];
}

/** The first key of the scenario for which only the scope of an endpoint is missing, if the outcome is its success. */
function keyToGiveScope(sandbox: SandboxState, outcome: OutcomeId): ScopedRequest | undefined {
  const endpoint = sandbox.endpoints.find((served) => !served.isMe && ownSuccessOf(served) === outcome);
  if (endpoint === undefined) return undefined;
  const scope = requiredScope(endpoint, sandbox);
  if (!scope) return undefined;

  for (const { ref } of announcedKeys(sandbox).keys) {
    const { key } = sandbox.registry.key(ref);
    // The keys of a rotation have the same scopes.
    if (key.replaces !== undefined || key.replacedBy !== undefined) continue;
    if (nextRequest(sandbox, ref, endpoint).outcome !== "403.insufficient_scope") continue;
    return { sent: { ...requestTo(endpoint), ref }, scopes: [...key.scopes, scope] };
  }
  return undefined;
}

function scopesText({ name, registry }: SandboxState, ref: string, scopes: readonly string[]): string {
  const { organization } = registry.key(ref).key;
  const where = isScenarioName(name) ? `in a scenario with extends: ${name}` : "in the scenario";
  return `${where}, write scopes: [${scopes.join(", ")}] for organizations.${organization}.keys.${ref}, then`;
}

function instruction(
  sent: RequestToSend,
  outcome: OutcomeId,
  curlOptions: string,
  before: Preparation,
): HowToCover {
  const { ref, method = "GET", path } = sent;
  const send = sendingInWords(ref, method, path);
  return {
    ref,
    request: { method, path },
    scenario: before.scenario ?? null,
    reset: before.reset ?? false,
    ...(before.scopes && { scopes: [...before.scopes] }),
    text: before.text === undefined ? send : `${before.text} ${send}`,
    curl: curlLine(sent, curlOptions, outcome),
  };
}

/** What to send, in words: with its method and path unless it is the usual request. */
function sendingInWords(ref: string, method: string, path: string): string {
  const isUsual = method === "GET" && path === mePath;
  if (isUsual) return ref === "none" ? "send no key" : `send ${keyVariable(ref)}`;
  const key = ref === "none" ? "without a key" : `with ${keyVariable(ref)}`;
  return `send ${method} ${path} ${key}`;
}

/** Whether a fault fires on each request that it matches. */
function firesAlways({ when }: ActiveFault): boolean {
  const { every, requests, probability } = when;
  return every === undefined && requests === undefined && probability === undefined;
}
