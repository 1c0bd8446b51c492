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

interface Reproduction {
  /** Default: GET. */
  readonly method?: string | undefined;
  readonly path: string;
  /** The ref of the key; `none`, `malformed` or `unknown` if the sandbox does not have it. */
  readonly ref: string;
  /** The scopes that the key must have, if it lacks one. Default: it lacks none. */
  readonly scopes?: readonly string[];
}

type Reproductions = ReadonlyMap<OutcomeId, Reproduction>;

/** The bundled scenarios to try for outcomes that no request to the running sandbox covers. */
const fallbackScenarios: readonly ScenarioName[] = ["key-states", "bad-day"];

/** Shows how to cover an outcome: now, after a reset, or with a bundled scenario. Under `exec`, the sandbox has already stopped. */
export function howToCover(
  sandbox: SandboxState,
  { curlOptions, underExec }: { curlOptions: string; underExec: boolean },
): (outcome: OutcomeId) => HowToCover | null {
  let running: Reproductions | undefined;
  const reproductionIn = (name: ScenarioName | undefined, outcome: OutcomeId) => {
    if (name !== undefined) return reproductionsOf(name, sandbox.platform).get(outcome);
    running ??= reproductionsIn(sandbox);
    return running.get(outcome);
  };
  return (outcome) => {
    const name = [undefined, ...fallbackScenarios].find((one) => reproductionIn(one, outcome) !== undefined);
    const reproduction = reproductionIn(name, outcome) ?? withItsScope(sandbox, outcome);
    if (reproduction === undefined) return null;
    const { ref, method = "GET", path, scopes } = reproduction;
    const text = ref === "none" ? "send no key" : `send ${variableOf(ref)}`;
    const reset = name === sandbox.name;
    const before = scopes === undefined ? name && beforeIt(name) : givingScopes(sandbox, ref, scopes);
    return {
      ref,
      request: { method, path },
      scenario: name === undefined || reset ? null : name,
      reset,
      ...(scopes && { scopes: [...scopes] }),
      text: before === undefined ? text : `${before} ${text}`,
      curl: curlLine(reproduction, curlOptions, outcome),
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
function withItsScope(sandbox: SandboxState, outcome: OutcomeId): Reproduction | undefined {
  const endpoint = sandbox.endpoints.find((one) => successOutcomeOf(one, undefined) === outcome);
  const scope = endpoint && scopeOf(endpoint, sandbox);
  if (!endpoint || !scope) return undefined;
  for (const { ref } of announcedKeys(sandbox).keys) {
    const entry = sandbox.registry.key(ref);
    const { scopes, replaces, replacedBy } = entry.key;
    // The keys of a rotation have the same scopes.
    if ((replaces ?? replacedBy) || nextRequest(sandbox, ref, endpoint).outcome !== "403.insufficient_scope")
      continue;
    return {
      ...requestTo(endpoint),
      ref,
      scopes: [...scopes, scope],
    };
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
export function curlLine(
  { ref, method, path }: Omit<Reproduction, "scopes">,
  curlOptions: string,
  outcome: OutcomeId,
): string {
  const words = [
    "curl",
    curlOptions,
    // Without a timeout, curl would wait forever.
    effectAt(outcome)?.ends === "hang" && "-m 5",
    method !== undefined && (method === "HEAD" ? "--head" : `-X ${method}`),
    ref !== "none" && `-H "x-api-key: $${variableOf(ref)}"`,
    shellUrl(path),
  ];
  return words.filter(Boolean).join(" ");
}

/** Returns a request for each outcome that can be covered now: the first one that always covers it. */
function reproductionsIn(sandbox: SandboxState): Reproductions {
  const byOutcome = new Map<OutcomeId, Reproduction>();
  const add = (apiOutcome: ApiOutcomeId, sent: Reproduction, entry?: KeyEntry, endpoint?: Endpoint) => {
    for (const outcome of outcomesWithFaults(sandbox, apiOutcome, entry, endpoint))
      if (!byOutcome.has(outcome)) byOutcome.set(outcome, sent);
  };
  // Only keys in the environment of clients.
  const { keys } = announcedKeys(sandbox);
  for (const endpoint of sandbox.endpoints) {
    const request = requestTo(endpoint);
    for (const { ref } of keys) {
      const entry = sandbox.registry.key(ref);
      const { outcome } = nextRequest(sandbox, ref, endpoint);
      const apiOutcome = isSuccess(outcome) ? successOutcomeOf(endpoint, outcome) : outcome;
      add(apiOutcome, { ref, ...request }, entry, endpoint);
    }
  }
  add("401.missing", { ref: "none", path: mePath });
  for (const ref of ["malformed", "unknown"] as const) add(`401.${ref}`, { ref, path: mePath });
  add("404.unknown_path", { ref: "none", path: "/v1/relying-party/nothing" });
  add("405.method", { ref: "none", method: "DELETE", path: mePath });
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
  let isFirst = true;
  for (const fault of sandbox.faults) {
    const { when } = fault;
    const effect = effectOn(fault, facts);
    if (effect === undefined || firesNoMore(fault)) continue;
    const isCertain =
      when.every === undefined && when.requests === undefined && when.probability === undefined;
    const outcome = faultOutcomeOf(effect);
    const { onlyDelays } = effectAt(outcome);
    const ends = isFirst ? [outcome] : [];
    if (isCertain) return onlyDelays ? [apiOutcome, ...ends] : ends;
    if (!onlyDelays) return [];
    isFirst = false;
  }
  return [apiOutcome];
}

/** Returns the URL of a path for a shell with the environment of clients. */
function shellUrl(path: string): string {
  // Only these are plain in double quotes.
  const isPlain = /^[\w/.~:@%+,=?&;-]*$/.test(path);
  return isPlain ? `"$SVC_BASE_URL${path}"` : `--globoff --path-as-is "$SVC_BASE_URL"${shellWord(path)}`;
}
