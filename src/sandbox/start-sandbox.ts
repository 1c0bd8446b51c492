import { profiles, resolveAssumptions } from "../rules/assumptions.js";
import { defaultSeed } from "../rules/seed.js";
import { isoTime } from "../rules/time.js";
import { checkedCopy } from "../rules/validation.js";
import { checkDuplicates } from "../scenario/checks/duplicate-values.js";
import { problemsAtStart } from "../scenario/checks/start-rules.js";
import { timeFrom } from "../scenario/format/times.js";
import { unknownSecret } from "../scenario/keys.js";
import { type Locate, showProblems } from "../scenario/places.js";
import { type FieldProblem, ProblemList, ScenarioError } from "../scenario/problems.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { libraryNotation } from "../schema/describe.js";
import * as s from "../schema/shape.js";
import { requireClockTime, requireInstant, VirtualClock } from "./clock.js";
import { Farmers } from "./farmer-records/farmer-list.js";
import { activateFaults } from "./faults.js";
import { ClientHistory } from "./journal/client-history.js";
import { Counters } from "./journal/counts.js";
import { Journal } from "./journal/journal.js";
import { runDue } from "./operations/operations.js";
import type { Platform } from "./platform.js";
import { recordAdditions } from "./record-additions.js";
import { Registry } from "./registry.js";
import { RequestIds } from "./request-ids.js";
import {
  type ConditionedRun,
  type Invocation,
  invocationOfServer,
  type SandboxState,
  type ScenarioState,
  type StartOptions,
} from "./sandbox-state.js";
import type { SavedSandbox } from "./saved-sandbox.js";
import { startRecords } from "./scenario-records.js";
import type { Timeline, TimelineStep } from "./steps.js";
import type { VariantRules } from "./variants.js";

// How the state of a sandbox begins:
//
// | a user                 | functions                              | what is over at the start of the clock | ids of requests |
// |------------------------|----------------------------------------|----------------------------------------|-----------------|
// | starts a sandbox       | `prepareStart`, `startSandbox`         | is an error, except with a set clock   | the first ones  |
// | continues a saved one  | `afterPause`, `continueSandbox`        | has run, or runs with the first call   | the next series |
// | starts another         | `prepareReplacement`, `replaceScenario`| is an error, except with a set clock   | the next series |
// | resets                 | `restartSandbox`                       | runs, since it may be over by now      | the next series |
//
// What throws is `prepare…`, which changes nothing, and a reset before it changes anything. A clock is set by the option `now` or by
// the scenario; the steps before its start are due at the start.

/** Where a sandbox runs, which later starts keep. */
interface Surroundings {
  readonly platform: Platform;
  readonly clientRun?: ConditionedRun | undefined;
  /** Default: that of a server without HTTPS, by the name of the program. */
  readonly invocation?: Invocation | undefined;
}

/** A scenario, with the places of its fields for the problems that only its start shows. Default: without places. */
export interface ScenarioToStart extends NamedScenario {
  readonly locate?: Locate | undefined;
}

/** What a caller wants to start: a checked scenario, with options in place of some of its values. */
export interface StartSettings extends Surroundings {
  readonly source: ScenarioToStart;
  readonly options?: StartOptions;
}

/** A start that is possible: a scenario with the options applied. */
interface PreparedStart extends Surroundings, NamedScenario {
  /** Other scenarios that start later get them as well. */
  readonly startOptions: StartOptions;
}

const startOptionsShape = s.mapping({
  seed: s.optional(s.integer()),
  frozen: s.optional(s.flag()),
  profile: s.optional(s.choice(profiles)),
});

/**
 * Prepares the start of a sandbox. Throws `validation_failed` for an option, or a `ScenarioError` if the scenario cannot have this seed,
 * or cannot start when its clock does.
 */
export function prepareStart(settings: StartSettings): PreparedStart {
  const start = withOptions(settings);
  requirePossibleStart(start, settings.source);
  return start;
}

/** Checks the options, and applies them: returns a start of a scenario that starts the same without them. */
function withOptions({
  source,
  options = {},
  platform,
  clientRun,
  invocation,
}: StartSettings): PreparedStart {
  const startOptions = checkedOptions(options);
  const { seed, now, frozen, profile } = startOptions;
  let { scenario } = source;
  if (seed !== undefined) scenario = { ...scenario, seed };
  if (now !== undefined) scenario = { ...scenario, clock: { ...scenario.clock, now: isoTime(now) } };
  if (frozen !== undefined) scenario = { ...scenario, clock: { ...scenario.clock, frozen } };
  if (profile !== undefined) scenario = { ...scenario, assumptions: { ...scenario.assumptions, profile } };

  // A seed may generate what the scenario pins: two keys have one secret, or two organizations one id.
  if (seed !== undefined) {
    const problems = new ProblemList();
    checkDuplicates(scenario, problems);
    throwIfAny(problems.found, source);
  }
  const { name, text } = source;
  return { name, text, scenario, startOptions, platform, clientRun, invocation };
}

/** Throws `validation_failed` for a wrong option. */
function checkedOptions({
  seed,
  now,
  frozen,
  profile,
}: StartOptions): StartOptions & { now?: number | undefined } {
  const instant = now === undefined ? undefined : requireInstant(now);
  checkedCopy(startOptionsShape, { seed, frozen, profile }, "start the sandbox", libraryNotation);
  if (instant !== undefined) requireClockTime(instant, "now");
  return { seed, now: instant, frozen, profile };
}

/** Throws a `ScenarioError` for what only the start of the clock shows, such as a key that has ended by then. */
function requirePossibleStart(start: PreparedStart, source: ScenarioToStart): void {
  const { scenario } = start;
  const isClockSet = scenario.clock?.now !== undefined;
  throwIfAny(problemsAtStart(scenario, startOfClock(start), isClockSet), source);
}

function throwIfAny(problems: readonly FieldProblem[], source: ScenarioToStart): void {
  if (problems.length === 0) return;
  const { locate = () => undefined, name } = source;
  throw new ScenarioError(showProblems(problems, { locate, file: name }));
}

/**
 * Starts a sandbox. What is due at the start runs with the first `runDue`, so that listeners hear of it. The same scenario, seed and
 * start result in the same ids, names, secrets and request ids.
 */
export function startSandbox(start: PreparedStart): SandboxState {
  const { platform, clientRun, startOptions, invocation = invocationOfServer() } = start;
  const state = newState(start);
  const counters = new Counters();
  const journal = new Journal();
  return { ...state, platform, clientRun, startOptions, invocation, counters, journal };
}

/** Continues a saved sandbox, whose parts become those of the new one. The options are for scenarios that start later. */
export function continueSandbox(
  saved: SavedSandbox,
  { options = {}, platform, clientRun, invocation = invocationOfServer() }: Omit<StartSettings, "source">,
): SandboxState {
  const startOptions = checkedOptions(options);
  const counters = new Counters(saved.counts);
  const journal = new Journal();
  journal.replaceWith(saved.exchanges, saved.total);
  const state = savedState(saved, { platform, clientRun });
  return { ...state, platform, clientRun, startOptions, invocation, counters, journal };
}

/**
 * Starts a sandbox again with its own scenario, and runs what is due then. An option that is left out is as in its last start. Without
 * `now`, it always can start, though the real time may be later than its steps. Throws for options with which it cannot, and changes
 * nothing then.
 */
export function restartSandbox(sandbox: SandboxState, options: StartOptions = {}): void {
  const { scenario, name, text } = sandbox;
  const source = { scenario, name, text };
  const start = withOptions({ ...sandbox, source, options });
  if (options.now !== undefined) requirePossibleStart(start, source);
  replaceScenario(sandbox, start);
}

/**
 * Prepares the start of another scenario in place of a sandbox's; `replaceScenario` makes it. An option that is left out is as in the
 * sandbox's first start. Throws as `prepareStart` does.
 */
export function prepareReplacement(
  sandbox: SandboxState,
  another: ScenarioToStart,
  options: StartOptions = {},
): PreparedStart {
  const first = sandbox.startOptions;
  const completed: StartOptions = {
    seed: options.seed ?? first.seed,
    now: options.now ?? first.now,
    frozen: options.frozen ?? first.frozen,
    profile: options.profile ?? first.profile,
  };
  return prepareStart({ ...sandbox, source: another, options: completed });
}

/** Starts a scenario in place of a sandbox's, and runs what is due. Requests are counted from 1 again, with new ids. */
export function replaceScenario(sandbox: SandboxState, start: PreparedStart): void {
  const state = newState(start, sandbox.requestIds.series + 1);

  // Everything is replaced before any listener can read it.
  Object.assign(sandbox, state);
  sandbox.journal.replaceWith();
  sandbox.journal.emit({ type: "sandbox.started", scenario: state.name, seed: state.seed });
  runDue(sandbox);
}

/** The state of a scenario as it starts, before any step has run. `series`: that of its request ids. */
function newState(start: PreparedStart, series = 0): ScenarioState {
  const { scenario, platform } = start;
  const startedAt = startOfClock(start);
  // First, so that it never lags behind the real time, however long the rest takes.
  const clock = new VirtualClock({ time: platform.time, start: startedAt, frozen: scenario.clock?.frozen });

  const settings = settingsOf(start, startedAt);
  const { story: steps = [], timeline = [], faults = [] } = scenario;
  return {
    ...settings,
    clock,
    timeline: makeTimeline(timeline, startedAt),
    registry: startRecords(scenario, platform.sha256, startedAt),
    faults: activateFaults(faults, settings.seed, startedAt),
    requestIds: new RequestIds(settings.seed, series),
    history: new ClientHistory(),
    story: { steps, next: 0, results: [], last: undefined, resumesAtEnd: false },
    isChangedByUser: false,
  };
}

/** The state of a scenario as it was saved. */
function savedState(saved: SavedSandbox, { platform, clientRun }: Surroundings): ScenarioState {
  const { name, scenario, text, requestIds } = saved;
  const { startedAt, now, frozen } = saved.clock;
  const clock = new VirtualClock({ time: platform.time, start: now, frozen });

  const registry = new Registry(saved.organizations);
  for (const { usage, ...key } of saved.keys) registry.addKey(key, { ...usage });

  const settings = settingsOf({ name, scenario, text, platform, clientRun }, startedAt);
  return {
    ...settings,
    clock,
    timeline: saved.timeline,
    registry,
    faults: saved.faults,
    requestIds: new RequestIds(settings.seed, requestIds.series, requestIds.count),
    history: new ClientHistory(saved.history),
    story: { ...saved.story, steps: scenario.story ?? [] },
    isChangedByUser: saved.isChangedByUser,
  };
}

/** What nothing changes as long as the scenario runs. */
function settingsOf(
  { name, scenario, text, platform, clientRun }: Omit<PreparedStart, "startOptions">,
  startedAt: number,
) {
  const { seed = defaultSeed } = scenario;
  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const profileInEffect = clientRun?.profile ?? profile;
  const endpoints = platform.endpoints(scenario);
  const rules: VariantRules = { seed, rows: clientRun?.rows };
  return {
    name,
    scenario,
    text,
    seed,
    profile,
    profileInEffect,
    ownAssumptions,
    assumptions: resolveAssumptions(profileInEffect, ownAssumptions, endpoints),
    additions: recordAdditions(profileInEffect, rules, ownAssumptions, endpoints),
    endpoints,
    routes: platform.routes(endpoints),
    startedAt,
    farmers: new Farmers(scenario, { seed, start: startedAt, make: platform.farmers }),
    unknownKeyHash: platform.sha256(unknownSecret(seed)),
  };
}

/**
 * A timeline of which no step has run. Its durations count from `start` (epoch milliseconds). Steps run in the order in which they are
 * written, none earlier than the step before it: after `2h`, a step whose time is in half an hour is due in two hours, too.
 */
function makeTimeline(written: readonly TimelineStep[], start: number): Timeline {
  const steps: { at: number; step: TimelineStep }[] = [];
  let dueBefore = Number.NEGATIVE_INFINITY;
  for (const step of written) {
    const at = Math.max(dueBefore, timeFrom(start, step.at));
    steps.push({ step, at });
    dueBefore = at;
  }
  return { steps, next: 0 };
}

/** When the clock starts: at the scenario's time, or else at the run's, or else at the real time. */
function startOfClock({ scenario, platform, clientRun }: PreparedStart): number {
  const now = scenario.clock?.now;
  if (now !== undefined) return requireInstant(now);
  return clientRun?.clockStart ?? platform.time();
}
