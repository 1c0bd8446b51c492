import { profiles } from "../rules/assumptions.js";
import { defaultSeed } from "../rules/seed.js";
import { isoTime } from "../rules/time.js";
import { checkValue } from "../rules/validation.js";
import { duplicateSecretsAndIds } from "../scenario/checks/duplicate-values.js";
import { libraryNotation } from "../scenario/format/notations.js";
import type { NamedScenario } from "../scenario/parse-scenario.js";
import { problemAt } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { ScenarioError } from "../scenario/scenario-error.js";
import * as s from "../schema/shape.js";
import { activateFaults } from "./active-faults.js";
import { requireClockTime, VirtualClock } from "./clock.js";
import { Farmers } from "./farmer-records/farmer-list.js";
import { Counters } from "./journal/counts.js";
import { Journal } from "./journal/journal.js";
import { runDue } from "./operations/operations.js";
import { assumptionsInEffect } from "./profile.js";
import { Registry } from "./registry.js";
import { RequestIds } from "./request-ids.js";
import {
  type ConditionedRun,
  type Invocation,
  type Platform,
  replaceState,
  type SandboxState,
  type ScenarioState,
  type Start,
  type StartOptions,
  type Surroundings,
} from "./sandbox-state.js";
import { scenarioRecords, startKey } from "./scenario-records.js";
import type { TimelineResult } from "./step-results.js";
import { requireInstant } from "./time-input.js";
import { createTimeline, pastStepProblem } from "./timeline.js";
import { windowsOf } from "./usage.js";
import { withNameSuffix } from "./varied-records.js";

/** The options of a start after their check: the start of the clock is in epoch milliseconds. */
interface CheckedOptions extends StartOptions {
  readonly now: number | undefined;
}

const startOptionsShape = s.mapping({
  seed: s.optional(s.integer()),
  frozen: s.optional(s.flag()),
  profile: s.optional(s.choice(profiles)),
});

/** How the user reaches a server and certifies a client. `program`: how svc-sandbox is started. */
export function invocationOfServer(program = "svc-sandbox", isSecure = false): Invocation {
  const curlOptions = isSecure ? "-k" : "";
  return { curlOptions, certify: `${program} certify`, command: "npm test" };
}

/**
 * Checks the options of a start, and applies them to its scenario, which is checked already. Throws `validation_failed`, or a
 * `ScenarioError` if the scenario cannot have this seed.
 */
export function checkedStart(
  { scenario, name, text }: NamedScenario,
  options: StartOptions,
  { platform, run, invocation }: Surroundings,
): Start {
  const { seed, frozen, profile } = options;
  const now = options.now === undefined ? undefined : requireInstant(options.now);
  checkValue(startOptionsShape, { seed, frozen, profile }, "Invalid options", libraryNotation);
  if (now !== undefined) requireClockTime(now, "now");

  const checked: CheckedOptions = { seed, now, frozen, profile };
  const started = withOptions(scenario, checked);
  if (seed !== undefined) requireDistinctValues(started);
  return { name, scenario: started, text, startOptions: checked, platform, run, invocation };
}

/**
 * Starts a sandbox, and runs what is due then. The same scenario, seed and start result in the same ids, names, secrets and
 * request ids. Throws as `requireStepsAhead` does.
 */
export function startSandbox(start: Start): SandboxState {
  requireStepsAhead(start);
  const sandbox = createState(start);
  runFirstSteps(sandbox);
  return sandbox;
}

/** The state of a new sandbox, of which no step has run, not even what is due. */
export function createState(start: Start): SandboxState {
  const { platform, run, startOptions, invocation = invocationOfServer() } = start;
  return {
    ...initialState(start),
    platform,
    run,
    startOptions,
    counters: new Counters(),
    invocation,
    journal: new Journal(),
  };
}

/**
 * Starts a sandbox again with its own scenario, and runs what is due then; its steps may be over by now. An option that is left
 * out is as in its last start. Throws if it cannot start, and changes nothing then.
 */
export function restartSandbox(sandbox: SandboxState, options: StartOptions = {}): void {
  // The scenario contains the options of the last start.
  const { scenario, name, text } = sandbox;
  const start = checkedStart({ scenario, name, text }, options, surroundingsOf(sandbox));
  replaceByInitial(sandbox, initialState(start));
}

/**
 * Starts another scenario in place of a sandbox's, and runs what is due then. An option that is left out is that of the
 * sandbox's first start. Throws if it cannot start, and changes nothing then. `onReady` is called once it can, before a
 * listener hears of it.
 */
export function startAnother(
  sandbox: SandboxState,
  another: NamedScenario,
  options: StartOptions = {},
  onReady: () => void = () => {},
): void {
  const completed = { ...sandbox.startOptions, ...options };
  const start = checkedStart(another, completed, surroundingsOf(sandbox));
  requireStepsAhead(start);
  const initial = initialState(start);
  onReady();
  replaceByInitial(sandbox, initial);
}

/** Where a sandbox runs: another start has the same. */
function surroundingsOf({ platform, run, invocation }: SandboxState): Surroundings {
  return { platform, run, invocation };
}

/** Replaces what follows from the scenario, and runs what is due. Requests are counted from 1 again, with new ids. */
function replaceByInitial(sandbox: SandboxState, initial: ScenarioState): void {
  const { name, scenario, seed } = initial;
  const requestIds = sandbox.requestIds.afterRestart(seed, scenario.requests_responded ?? 0);

  // Everything is replaced before any listener can read it.
  replaceState(sandbox, { ...initial, requestIds });
  sandbox.journal.replaceWith();
  sandbox.journal.emit({ type: "sandbox.started", scenario: name, seed });
  runFirstSteps(sandbox);
}

/** Runs the steps that are due at the start, and keeps their results for a story that starts later. */
function runFirstSteps(sandbox: SandboxState): void {
  const { timeline, journal } = sandbox;
  const results: TimelineResult[] = [];
  const unsubscribe = journal.subscribe((event) => {
    if (event.type === "timeline.step") results.push(event.result);
  });
  try {
    runDue(sandbox);
  } finally {
    // Another listener may have thrown.
    unsubscribe();
    timeline.ranAtStart = results;
  }
}

/** What follows from the scenario of a start, before any step has run. */
function initialState({ name, scenario, text, platform, run }: Start): ScenarioState {
  // Read first, so that the clock never lags behind the real time, however long the rest takes.
  const readAt = platform.steadyTime();
  const { seed = defaultSeed } = scenario;
  const start = startOfClock(scenario, platform, run);
  const farmers = new Farmers(scenario, { seed, start, make: platform.farmers });
  const endpoints = platform.endpoints(scenario);

  // How the API behaves.
  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const settings = { seed, profile, ownAssumptions, run, endpoints };
  const assumptions = assumptionsInEffect(settings);
  const windows = windowsOf(assumptions);

  // The organizations and keys, with what the profile `varied` adds to them.
  const records = scenarioRecords(scenario, seed, platform.sha256);
  const organizations = records.organizations.map((plain) => withNameSuffix(settings, plain));
  const registry = new Registry(organizations);
  for (const key of records.keys) startKey(registry, key, start, windows, settings);

  return {
    name,
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
    registry,
    requestIds: new RequestIds(seed, scenario.requests_responded),
    behavior: { rejected: new Map(), pages: new Set(), unknownKeyHash: records.unknownKeyHash },
    changes: new Map(),
  };
}

/**
 * Throws a `ScenarioError` for a step of the timeline that is before the real time at which the clock starts. A clock with a time
 * of its own may start after some steps, which then run at the start.
 */
export function requireStepsAhead({ scenario, platform, run }: Start): void {
  const problem = pastStepProblem(scenario, startOfClock(scenario, platform, run));
  if (problem !== undefined) throw new ScenarioError([problemAt(problem)]);
}

/** Throws a `ScenarioError` if two keys have one secret, or two organizations one id: a seed may generate what the scenario pins. */
function requireDistinctValues(scenario: Scenario): void {
  const shared = duplicateSecretsAndIds(scenario);
  if (shared.length > 0) throw new ScenarioError(shared.map((problem) => problemAt(problem)));
}

/** When the clock starts: at the scenario's time, or else at the run's, or else at the real time. */
function startOfClock(scenario: Scenario, platform: Platform, run: ConditionedRun | undefined): number {
  const now = scenario.clock?.now;
  if (now !== undefined) return requireInstant(now);
  return run?.start ?? platform.time();
}

/** Returns a scenario that starts the same sandbox without the options: the same object if there are none. */
function withOptions(scenario: Scenario, { seed, now, frozen, profile }: CheckedOptions): Scenario {
  const isUnchanged = [seed, now, frozen, profile].every((option) => option === undefined);
  if (isUnchanged) return scenario;

  const changed = { ...scenario };
  if (seed !== undefined) changed.seed = seed;
  if (now !== undefined) changed.clock = { ...changed.clock, now: isoTime(now) };
  if (frozen !== undefined) changed.clock = { ...changed.clock, frozen };
  if (profile !== undefined) changed.assumptions = { ...changed.assumptions, profile };
  return changed;
}
