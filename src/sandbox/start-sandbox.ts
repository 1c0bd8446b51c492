import { defaultSeed } from "../rules/seed.js";
import { type Instant, isoTime } from "../rules/time.js";
import { requireInstant } from "../rules/time-input.js";
import { sharedValues } from "../scenario/described-keys.js";
import { checkInput, inputShapes } from "../scenario/format/inputs.js";
import { libraryNotation } from "../scenario/format/notations.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { problemAt, ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { activateFaults } from "./active-faults.js";
import { requireClockTime, VirtualClock } from "./clock.js";
import { farmersOf } from "./farmer-records/farmer-list.js";
import { Counters } from "./journal/counts.js";
import { Journal } from "./journal/journal.js";
import { runDue } from "./operations/operations.js";
import { assumptionsInEffect } from "./profile.js";
import { Registry } from "./registry.js";
import { numberInSeries, RequestIds } from "./request-ids.js";
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

/** What a sandbox has besides its scenario. */
export interface SandboxSettings {
  readonly platform: Platform;
  readonly run?: ConditionedRun | undefined;
  readonly startOptions?: StartOptions | undefined;
}

/** The options of a start as a caller wrote them. */
type WrittenOptions = Omit<StartOptions, "now"> & { readonly now?: Instant | undefined };

type StartContext = Pick<SandboxState, "platform" | "run">;

const defaultInvocation: Invocation = {
  curlOptions: "",
  certify: "svc-sandbox certify",
  command: "npm test",
};

/** The options of a start among others, such as all flags of a command. */
export function startOptionsOf({ seed, now, frozen, profile }: StartOptions): StartOptions {
  return { seed, now, frozen, profile };
}

/** Checks the options that a caller wrote: throws `validation_failed`. The start of the clock becomes an instant. */
export function checkedOptions(written: WrittenOptions): StartOptions {
  const { seed, frozen, profile } = written;
  const now = written.now === undefined ? undefined : requireInstant(written.now);
  if (seed !== undefined || frozen !== undefined || profile !== undefined) {
    checkInput(inputShapes.sandbox_options, { seed, frozen, profile }, "Invalid options", libraryNotation);
  }
  return { seed, now, frozen, profile };
}

/** Starts a sandbox. The same scenario, seed and start result in the same ids, names, secrets and request ids. */
export function startSandbox(scenario: Scenario, settings: NamedStart & SandboxSettings): SandboxState {
  const { platform, run, startOptions = {} } = settings;
  const state = stateAtStart(scenario, { ...settings, run });
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
  const { platform, run, journal } = sandbox;
  const { scenario: source, name, text } = another ?? sandbox;
  // Its own scenario has the options of its start already.
  const kept = another === undefined ? {} : sandbox.startOptions;
  const state = stateAtStart(source, { ...kept, ...options, platform, run, name, text });
  onReady();

  // Everything is replaced at the same time, before any listener can read it.
  const { scenario, seed } = state;
  const nextSeries = sandbox.requestIds.series() + 1;
  const responded = numberInSeries(nextSeries, scenario.requests_responded ?? 0);
  replaceState(sandbox, { ...state, requestIds: new RequestIds(seed, responded) });
  journal.replaceWith();
  journal.emit({ type: "sandbox.started", scenario: name, seed });
  runDue(sandbox);
}

/** Returns the state of a checked scenario at its start. Changes nothing; throws if the options do not fit the scenario. */
function stateAtStart(source: Scenario, options: NamedStart & StartContext): StartState {
  const { platform, run, text } = options;
  // Read first, so that the clock never lags behind the real time, however long the rest takes.
  const readAt = platform.steadyTime();
  if (options.now !== undefined) requireClockTime(options.now, "now");
  const scenario = withOptions(source, options);
  if (options.seed !== undefined) requireDistinctValues(scenario);

  const { seed = defaultSeed } = scenario;
  const start = startOfClock(scenario, options);
  const farmers = farmersOf(scenario, { seed, start, make: platform.farmers });
  const endpoints = platform.endpoints(scenario);

  // How the API behaves.
  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const settings = { seed, profile, ownAssumptions, run, endpoints };
  const assumptions = assumptionsInEffect(settings);
  const windows = windowsOf(assumptions);

  // The organizations and keys, with what the profile `varied` adds to them.
  const records = scenarioRecords(scenario, seed, platform.sha256);
  const organizations = records.organizations.map((one) => withNameSuffix(settings, one));
  const keys = records.keys.map((one) => startKey(one, start, windows, settings));

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
    registry: new Registry(organizations, keys),
    requestIds: new RequestIds(seed, scenario.requests_responded),
    behavior: { rejected: new Map(), pages: new Set(), unknownKey: records.unknownKey },
    changes: new Map(),
  };
}

/** Throws if two things of the scenario have one secret or id: another seed may generate what the scenario pins. */
function requireDistinctValues(scenario: Scenario): void {
  const shared = sharedValues(scenario);
  if (shared.length > 0) throw new ScenarioError(shared.map((problem) => problemAt(problem)));
}

/** When the clock starts: at the scenario's time, else at the run's, else now. */
function startOfClock(scenario: Scenario, { platform, run }: StartContext): number {
  const now = scenario.clock?.now;
  if (now !== undefined) return requireInstant(now);
  return run?.start ?? platform.time();
}

/** Returns a scenario that starts the same sandbox without the options: the same object if there are none. */
function withOptions(scenario: Scenario, options: StartOptions): Scenario {
  const { seed, now, frozen, profile } = options;
  const isUnchanged = [seed, now, frozen, profile].every((option) => option === undefined);
  if (isUnchanged) return scenario;

  const changed = { ...scenario };
  if (seed !== undefined) changed.seed = seed;
  if (now !== undefined) changed.clock = { ...changed.clock, now: isoTime(now) };
  if (frozen !== undefined) changed.clock = { ...changed.clock, frozen };
  if (profile !== undefined) changed.assumptions = { ...changed.assumptions, profile };
  return changed;
}
