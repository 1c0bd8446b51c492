import { defaultSeed } from "../rules/seed.js";
import { type Instant, isoOf } from "../rules/time.js";
import { instantOf } from "../rules/time-input.js";
import { sharedValues } from "../scenario/described-keys.js";
import { checkInput, inputShapes } from "../scenario/format/inputs.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { problemAt, ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { activateFaults } from "./active-faults.js";
import { requireClockTime, VirtualClock } from "./clock.js";
import { farmersOf } from "./farmer-records/farmer-list.js";
import { Counters } from "./journal/counts.js";
import { Journal } from "./journal/journal.js";
import { runDue } from "./operations/operations.js";
import { assumptionsIn } from "./profile.js";
import { Registry } from "./registry.js";
import { numberInto, RequestIds } from "./request-ids.js";
import {
  type ConditionedRun,
  type Invocation,
  type NamedStart,
  type Platform,
  replaceState,
  type SandboxState,
  type StartOptions,
  type StartState,
} from "./sandbox-state.js";
import { scenarioRecords, startKey } from "./scenario-keys.js";
import { createTimeline } from "./step-results.js";
import { windowsOf } from "./usage.js";
import { withNameSuffix } from "./varied-records.js";

export interface SandboxSettings {
  readonly platform: Platform;
  readonly run?: ConditionedRun | undefined;
  readonly startOptions?: StartOptions | undefined;
}

/** The options of a start, of a command's flags or of others. */
export function startOptionsOf({ seed, now, frozen, profile }: StartOptions): StartOptions {
  return { seed, now, frozen, profile };
}

type WrittenOptions = Omit<StartOptions, "now"> & { readonly now?: Instant | undefined };

/** The options that a caller wrote, with the start of the clock as an instant; throws `validation_failed`. */
export function checkedOptions({ now, ...options }: WrittenOptions): StartOptions {
  const { seed, frozen, profile } = options;
  const checked = startOptionsOf({ ...options, now: now === undefined ? undefined : instantOf(now) });
  if (seed !== undefined || frozen !== undefined || profile !== undefined) {
    checkInput(inputShapes.sandbox_options, { seed, frozen, profile }, "Invalid options");
  }
  return checked;
}

const defaultInvocation: Invocation = {
  curlOptions: "",
  certify: "svc-sandbox certify",
  command: "npm test",
};

/** The same scenario, seed and start result in the same ids, names, secrets and request ids. */
export function startSandbox(
  scenario: Scenario,
  { platform, run, startOptions = {}, ...options }: NamedStart & SandboxSettings,
): SandboxState {
  const state = stateAtStart(scenario, { ...options, platform, run });
  return {
    ...state,
    platform,
    run,
    startOptions,
    counters: new Counters(),
    invocation: defaultInvocation,
    journal: new Journal(),
  };
}

/**
 * Starts a sandbox again, with its scenario or another one, and runs what is due then. The sandbox's options also apply
 * to another scenario, unless the call gives its own. Request ids continue with their next series.
 *
 * Throws if it cannot start, and changes nothing then. `onReady` is called once it can.
 */
export function restartSandbox(
  sandbox: SandboxState,
  options: StartOptions = {},
  another?: NamedScenario,
  onReady: () => void = () => {},
): void {
  const { platform, run, startOptions, journal } = sandbox;
  const { scenario: source, name, text } = another ?? sandbox;
  const started = { ...(another && startOptions), ...options, platform, run, name, text };
  const { scenario, seed, ...state } = stateAtStart(source, started);
  onReady();
  const first = numberInto(sandbox.requestIds.series() + 1, scenario.requests_responded ?? 0);
  replaceState(sandbox, { ...state, scenario, seed, requestIds: new RequestIds(seed, first) });
  journal.enter();
  journal.emit({ type: "sandbox.started", scenario: name, seed });
  runDue(sandbox);
}

type StartContext = Pick<SandboxState, "platform" | "run">;

function seededIn({ platform, run }: StartContext, scenario: Scenario) {
  const { seed = defaultSeed } = scenario;
  const { now } = scenario.clock ?? {};
  const start = now === undefined ? (run?.start ?? platform.time()) : instantOf(now);
  return { seed, start, farmers: farmersOf(scenario, { seed, start, make: platform.farmers }) };
}

/** Returns the state of a checked scenario at its start. Changes nothing; throws if the options do not fit the scenario. */
function stateAtStart(source: Scenario, options: NamedStart & StartContext): StartState {
  const { platform, run, text } = options;
  // Read first, so that the clock never lags behind the real time, however long the rest takes.
  const readAt = platform.steadyTime();
  if (options.now !== undefined) requireClockTime(options.now, "now");
  const scenario = withOptions(source, options);
  // Another seed may generate a secret or an id that the scenario pins.
  const shared = options.seed === undefined ? [] : sharedValues(scenario);
  if (shared.length > 0) throw new ScenarioError(shared.map((problem) => problemAt(problem)));
  const { seed, start, farmers } = seededIn(options, scenario);
  const endpoints = platform.endpoints(scenario);
  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const sandbox = { seed, profile, ownAssumptions, run, endpoints };
  const assumptions = assumptionsIn(sandbox);
  const windows = windowsOf(assumptions);
  const { organizations, keys, unknownKey } = scenarioRecords(scenario, seed, platform.sha256);
  return {
    name: options.name ?? scenario.name ?? "unnamed",
    scenario,
    text,
    startedAt: start,
    seed,
    profile,
    assumptions,
    ownAssumptions,
    windows,
    farmers,
    endpoints,
    clock: new VirtualClock({ time: platform.steadyTime, start, readAt, frozen: scenario.clock?.frozen }),
    faults: activateFaults(scenario.faults ?? [], seed, start),
    timeline: createTimeline(scenario.timeline ?? [], start),
    story: {
      steps: scenario.story ?? [],
      next: 0,
      results: new Map(),
      last: undefined,
      wasFrozen: undefined,
    },
    registry: new Registry(
      organizations.map((one) => withNameSuffix(sandbox, one)),
      keys.map((one) => startKey(one, start, windows, sandbox)),
    ),
    requestIds: new RequestIds(seed, scenario.requests_responded),
    behavior: { rejected: new Map(), pages: new Set(), unknownKey },
    changes: new Map(),
  };
}

// Returns a scenario that starts the same sandbox without the options: the same object if there are none.
function withOptions(scenario: Scenario, options: StartOptions): Scenario {
  const { seed, now, frozen, profile } = options;
  const clock = { ...(now !== undefined && { now: isoOf(now) }), ...(frozen !== undefined && { frozen }) };
  const fromOptions = {
    ...(seed !== undefined && { seed }),
    ...(Object.keys(clock).length > 0 && { clock: { ...scenario.clock, ...clock } }),
    ...(profile !== undefined && { assumptions: { ...scenario.assumptions, profile } }),
  };
  return Object.keys(fromOptions).length === 0 ? scenario : ({ ...scenario, ...fromOptions } as Scenario);
}
