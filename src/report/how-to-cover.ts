import { scopeOf } from "../api/decide.js";
import { faultFacts, nextRequest } from "../api/predict.js";
import { variableOf } from "../rules/api-key.js";
import { cachedByName } from "../rules/cached-by.js";
import { effectAt, faultOutcomeOf } from "../rules/fault-effects.js";
import { type ApiOutcomeId, isSuccess, mePath, type OutcomeId } from "../rules/outcomes.js";
import { effectOn, firesNoMore } from "../sandbox/active-faults.js";
import { type Endpoint, successOutcomeOf } from "../sandbox/endpoint.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { announcedKeys } from "../sandbox/secrets.js";
import { startSandbox } from "../sandbox/start-sandbox.js";
import { bundledScenarios, isScenarioName, type ScenarioName } from "../scenario/bundled.js";
import { shellWord } from "./plain-text.js";
import type { HowToCover } from "./report-shape.js";

/** A request that ends on an outcome. */
interface Reproduction {
  /** Default: GET. */
  readonly method?: string | undefined;
  readonly path: string;
  /** The ref of the key; `none`, `malformed` or `unknown` if the sandbox does not have it. */
  readonly ref: string;
}

/** A request that ends on an outcome once its key has these scopes. */
interface ScopedReproduction extends Reproduction {
  readonly scopes: readonly string[];
}

type Reproductions = ReadonlyMap<OutcomeId, Reproduction>;

/** The bundled scenarios to try for outcomes that no request to the running sandbox covers. */
const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day"];

interface HintOptions {
  readonly curlOptions: string;
  /** Under `exec`, the sandbox has already stopped. */
  readonly underExec: boolean;
}

/** Shows how to cover an outcome: now, after a reset, or with a bundled scenario. */
export function howToCover(
  sandbox: SandboxState,
  options: HintOptions,
): (outcome: OutcomeId) => HowToCover | null {
  const { curlOptions } = options;
  let running: Reproductions | undefined;

  return (outcome) => {
    running ??= reproductionsIn(sandbox);
    const now = running.get(outcome);
    if (now !== undefined) return instruction(now, outcome, curlOptions, {});

    for (const name of fallbackScenarios) {
      const later = reproductionsOf(name, sandbox.platform).get(outcome);
      if (later !== undefined) {
        return instruction(later, outcome, curlOptions, beforeScenario(name, sandbox, options));
      }
    }

    const scoped = withItsScope(sandbox, outcome);
    if (scoped === undefined) return null;
    const text = givingScopes(sandbox, scoped.ref, scoped.scopes);
    return instruction(scoped, outcome, curlOptions, { scopes: scoped.scopes, text });
  };
}

/** What to do before a request is sent. */
interface Preparation {
  /** The bundled scenario to start. Default: none. */
  readonly scenario?: ScenarioName;
  /** Whether to reset the sandbox. Default: false. */
  readonly reset?: boolean;
  /** The scopes to give the key. Default: none. */
  readonly scopes?: readonly string[];
  /** The same as the start of a sentence. Default: nothing is to do. */
  readonly text?: string;
}

function instruction(
  reproduction: Reproduction,
  outcome: OutcomeId,
  curlOptions: string,
  before: Preparation,
): HowToCover {
  const { ref, method = "GET", path } = reproduction;
  const send = ref === "none" ? "send no key" : `send ${variableOf(ref)}`;
  return {
    ref,
    request: { method, path },
    scenario: before.scenario ?? null,
    reset: before.reset ?? false,
    ...(before.scopes && { scopes: [...before.scopes] }),
    text: before.text === undefined ? send : `${before.text} ${send}`,
    curl: curlLine(reproduction, curlOptions, outcome),
  };
}

function beforeScenario(name: ScenarioName, sandbox: SandboxState, options: HintOptions): Preparation {
  if (name !== sandbox.name) {
    const start = options.underExec ? "run exec with" : "start";
    return { scenario: name, text: `${start} the scenario ${name}, then` };
  }

  const words = ["curl"];
  if (options.curlOptions !== "") words.push(options.curlOptions);
  words.push("-X POST -H content-type:application/json $SVC_CONTROL_URL/reset");
  return { reset: true, text: `reset the sandbox (${words.join(" ")}), then` };
}

/** A success that only a missing scope prevents, with the first key of the scenario that could have it. */
function withItsScope(sandbox: SandboxState, outcome: OutcomeId): ScopedReproduction | undefined {
  const endpoint = sandbox.endpoints.find((served) => successOutcomeOf(served, undefined) === outcome);
  if (endpoint === undefined) return undefined;
  const scope = scopeOf(endpoint, sandbox);
  if (!scope) return undefined;

  for (const { ref } of announcedKeys(sandbox).keys) {
    const { key } = sandbox.registry.key(ref);
    // The keys of a rotation have the same scopes.
    if (key.replaces !== undefined || key.replacedBy !== undefined) continue;
    if (nextRequest(sandbox, ref, endpoint).outcome !== "403.insufficient_scope") continue;
    return { ...requestTo(endpoint), ref, scopes: [...key.scopes, scope] };
  }
  return undefined;
}

/** A request to an endpoint, with 1 for each parameter of its path. */
function requestTo({ method, path }: Endpoint): Pick<Reproduction, "method" | "path"> {
  return { ...(method !== "GET" && { method }), path: path.replace(/\{[^{}]*\}/g, "1") };
}

function givingScopes({ name, registry }: SandboxState, ref: string, scopes: readonly string[]): string {
  const { organization } = registry.key(ref).key;
  const where = isScenarioName(name) ? `in a scenario with extends: ${name}` : "in the scenario";
  return `${where}, write scopes: [${scopes.join(", ")}] for organizations.${organization}.keys.${ref}, then`;
}

// They never change, and creating a sandbox takes longer than the rest of a report.
const reproductionsOf = /* @__PURE__ */ cachedByName(
  (name: ScenarioName, platform: SandboxState["platform"]): Reproductions =>
    reproductionsIn(startSandbox(bundledScenarios[name], { platform, name })),
);

/** Returns a request that ends on an outcome as a command for a shell with the environment of clients. */
export function curlLine(reproduction: Reproduction, curlOptions: string, outcome: OutcomeId): string {
  const { ref, method, path } = reproduction;
  const words = ["curl"];
  if (curlOptions !== "") words.push(curlOptions);
  // Without a timeout, curl would wait forever.
  if (effectAt(outcome)?.ends === "hang") words.push("-m 5");
  if (method === "HEAD") words.push("--head");
  else if (method !== undefined) words.push(`-X ${method}`);
  if (ref !== "none") words.push(`-H "x-api-key: $${variableOf(ref)}"`);
  words.push(shellUrl(path));
  return words.join(" ");
}

/** Returns a request for each outcome that can be covered now: the first one that always covers it. */
function reproductionsIn(sandbox: SandboxState): Reproductions {
  const byOutcome = new Map<OutcomeId, Reproduction>();
  const add = (sent: Reproduction, apiOutcome: ApiOutcomeId, entry?: KeyEntry, endpoint?: Endpoint) => {
    for (const outcome of outcomesWithFaults(sandbox, apiOutcome, entry, endpoint)) {
      if (!byOutcome.has(outcome)) byOutcome.set(outcome, sent);
    }
  };

  // Only keys in the environment of clients.
  const { keys } = announcedKeys(sandbox);
  for (const endpoint of sandbox.endpoints) {
    const request = requestTo(endpoint);
    for (const { ref } of keys) {
      const entry = sandbox.registry.key(ref);
      const { outcome } = nextRequest(sandbox, ref, endpoint);
      const apiOutcome = isSuccess(outcome) ? successOutcomeOf(endpoint, outcome) : outcome;
      add({ ref, ...request }, apiOutcome, entry, endpoint);
    }
  }

  add({ ref: "none", path: mePath }, "401.missing");
  add({ ref: "malformed", path: mePath }, "401.malformed");
  add({ ref: "unknown", path: mePath }, "401.unknown");
  add({ ref: "none", path: "/v1/relying-party/nothing" }, "404.unknown_path");
  add({ ref: "none", method: "DELETE", path: mePath }, "405.method");
  return byOutcome;
}

/** Returns the outcomes that a request always covers with the active faults, if it would cover this one without faults. */
function outcomesWithFaults(
  sandbox: SandboxState,
  apiOutcome: ApiOutcomeId,
  entry: KeyEntry | undefined,
  endpoint: Endpoint | undefined,
): OutcomeId[] {
  const facts = faultFacts({ entry, endpoint, now: sandbox.clock.now() }, () => apiOutcome);
  let mayBeDelayed = false;
  for (const fault of sandbox.faults) {
    const effect = effectOn(fault, facts);
    if (effect === undefined || firesNoMore(fault)) continue;
    const faultOutcome = faultOutcomeOf(effect);
    const { onlyDelays } = effectAt(faultOutcome);

    const { every, requests, probability } = fault.when;
    const isCertain = every === undefined && requests === undefined && probability === undefined;
    if (!isCertain) {
      // It may take the place of the response.
      if (!onlyDelays) return [];
      mayBeDelayed = true;
      continue;
    }

    // A request has one fault, the first that fires: this one, if no other comes before it.
    const outcomes: OutcomeId[] = onlyDelays ? [apiOutcome] : [];
    if (!mayBeDelayed) outcomes.push(faultOutcome);
    return outcomes;
  }
  return [apiOutcome];
}

/** Returns the URL of a path for a shell with the environment of clients. */
function shellUrl(path: string): string {
  // Only these are plain in double quotes.
  const isPlain = /^[\w/.~:@%+,=?&;-]*$/.test(path);
  if (isPlain) return `"$SVC_BASE_URL${path}"`;
  return `--globoff --path-as-is "$SVC_BASE_URL"${shellWord(path)}`;
}
