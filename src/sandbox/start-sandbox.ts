import { profiles } from "../rules/assumptions.js";
import { defaultSeed } from "../rules/seed.js";
import { isoTime } from "../rules/time.js";
import { checkedCopy } from "../rules/validation.js";
import { checkDuplicates } from "../scenario/checks/duplicate-values.js";
import { problemsAtStart } from "../scenario/checks/start-rules.js";
import { timeFrom } from "../scenario/format/times.js";
import { unknownSecret } from "../scenario/keys.js";
import { showProblems } from "../scenario/places.js";
import { type FieldProblem, ProblemList, ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import { libraryNotation } from "../schema/notation.js";
import * as s from "../schema/shape.js";
import { behaviorOf } from "./behavior.js";
import { requireClockTime, requireInstant, VirtualClock } from "./clock.js";
import { Farmers } from "./farmer-records/farmer-list.js";
import { activateFaults } from "./faults.js";
import { ClientHistory } from "./journal/client-history.js";
import { Counters } from "./journal/counts.js";
import { Journal } from "./journal/journal.js";
import { runDue } from "./operations/operations.js";
import type { Platform } from "./platform.js";
import { RequestIds } from "./request-ids.js";
import {
  type ConditionedRun,
  type Invocation,
  invocationOfServer,
  replaceState,
  type SandboxState,
  type ScenarioState,
  type StartOptions,
} from "./sandbox-state.js";
import { type SavedSandbox, savedRecords } from "./saved-sandbox.js";
import { startRecords } from "./scenario-records.js";
import type { Timeline, TimelineStep } from "./steps.js";

// Each start is checked first, which changes nothing, and made then. What a user does, and how it differs (a reset with `now` is checked
// as a first start is):
//
// | a user                 | checked by           | made by           | what is over at the start of the clock | ids of requests  |
// |------------------------|----------------------|-------------------|----------------------------------------|------------------|
// | starts a sandbox       | `checkedStart`       | `startSandbox`    | is an error, except with a set clock   | of a new sandbox |
// | continues a saved one  | `checkedStart`       | `startSandbox`    | has run already                        | as it was saved  |
// | starts another         | `checkedReplacement` | `replaceScenario` | is an error, except with a set clock   | the next series  |
// | resets                 | `restartSandbox`     | `restartSandbox`  | runs, since it may be over by now      | the next series  |
//
// A clock is set by the option `now` or by the scenario. The steps before a set clock's start are due at the start.

/** What a sandbox can start with: a checked scenario, or a saved sandbox of one. */
export interface StartSource extends NamedScenario {
  /** Its parts become those of the sandbox: it starts once. */
  readonly saved?: SavedSandbox | undefined;
}

/** All that a sandbox starts with: a scenario with the options applied, and where the sandbox runs. `checkedStart` makes it. */
export interface Start extends StartSource {
  /** The options: those of a first start are kept for other scenarios that start later. */
  readonly startOptions: StartOptions;
  readonly platform: Platform;
  readonly run?: ConditionedRun | undefined;
  /** Default: that of a server without HTTPS, by the name of the program. */
  readonly invocation?: Invocation | undefined;
}

const startOptionsShape = s.mapping({
  seed: s.optional(s.integer()),
  frozen: s.optional(s.flag()),
  profile: s.optional(s.choice(profiles)),
});

/**
 * Checks the options of a start, and applies them to its scenario, which is checked already. Throws `validation_failed`, or a
 * `ScenarioError` if the scenario cannot have this seed.
 */
export function checkedStart(
  { scenario, name, text, saved }: StartSource,
  options: StartOptions,
  { platform, run, invocation }: Pick<Start, "platform" | "run" | "invocation">,
): Start {
  const { seed, frozen, profile } = options;
  const now = options.now === undefined ? undefined : requireInstant(options.now);
  checkedCopy(startOptionsShape, { seed, frozen, profile }, "start the sandbox", libraryNotation);
  if (now !== undefined) requireClockTime(now, "now");

  const startOptions: StartOptions = { seed, now, frozen, profile };
  const context = { name, text, startOptions, platform, run, invocation };
  // The options of a saved sandbox are only for scenarios that start later.
  if (saved !== undefined) return { ...context, scenario, saved };

  const started = withOptions(scenario, startOptions);
  // A seed may generate what the scenario pins: two keys have one secret, or two organizations one id.
  if (seed !== undefined) {
    const problems = new ProblemList();
    checkDuplicates(started, problems);
    throwIfAny(problems.found, name);
  }
  return { ...context, scenario: started };
}

/** Returns a scenario that starts the same sandbox without the options: the same object if there are none. */
function withOptions(scenario: Scenario, { seed, now, frozen, profile }: StartOptions): Scenario {
  const isUnchanged = [seed, now, frozen, profile].every((option) => option === undefined);
  if (isUnchanged) return scenario;

  const changed = { ...scenario };
  if (seed !== undefined) changed.seed = seed;
  if (now !== undefined) changed.clock = { ...changed.clock, now: isoTime(requireInstant(now)) };
  if (frozen !== undefined) changed.clock = { ...changed.clock, frozen };
  if (profile !== undefined) changed.assumptions = { ...changed.assumptions, profile };
  return changed;
}

/** Throws a `ScenarioError` if the scenario cannot start with this clock. A saved sandbox always continues. */
export function requirePossibleStart(start: Start): void {
  const { scenario, name, saved } = start;
  if (saved !== undefined) return;
  const isClockSet = scenario.clock?.now !== undefined;
  throwIfAny(problemsAtStart(scenario, startOfClock(start), isClockSet), name);
}

function throwIfAny(problems: readonly FieldProblem[], name: string): void {
  if (problems.length === 0) return;
  throw new ScenarioError(showProblems(problems, { locate: () => undefined, file: name }));
}

/**
 * Starts a sandbox, or continues a saved one. What is due at the start runs with the first `runDue`, so that listeners hear of it. The
 * same scenario, seed and start result in the same ids, names, secrets and request ids. Throws as `requirePossibleStart` does.
 */
export function startSandbox(start: Start): SandboxState {
  requirePossibleStart(start);
  return makeSandbox(start);
}

/** Makes the sandbox of a start that was possible when `requirePossibleStart` checked it. */
export function makeSandbox(start: Start): SandboxState {
  const { platform, run, startOptions, invocation = invocationOfServer(), saved } = start;
  const counters = new Counters(saved?.counts);
  const journal = new Journal();
  if (saved !== undefined) journal.replaceWith(saved.exchanges, saved.total);
  return { ...stateAtStart(start), platform, run, startOptions, invocation, counters, journal };
}

/**
 * Starts a sandbox again with its own scenario, and runs what is due then. An option that is left out is as in its last start. Without
 * `now`, it always can start, though the real time may be later than its steps. Throws for options with which it cannot, and changes
 * nothing then.
 */
export function restartSandbox(sandbox: SandboxState, options: StartOptions = {}): void {
  const { scenario, name, text } = sandbox;
  const start = checkedStart({ scenario, name, text }, options, sandbox);
  if (options.now !== undefined) requirePossibleStart(start);
  replaceScenario(sandbox, start);
}

/**
 * Checks the start of another scenario in place of a sandbox's; `replaceScenario` makes it. An option that is left out is as in the
 * sandbox's first start. Throws if the scenario cannot start.
 */
export function checkedReplacement(
  sandbox: SandboxState,
  another: NamedScenario,
  options: StartOptions = {},
): Start {
  const first = sandbox.startOptions;
  const completed: StartOptions = {
    seed: options.seed ?? first.seed,
    now: options.now ?? first.now,
    frozen: options.frozen ?? first.frozen,
    profile: options.profile ?? first.profile,
  };
  const start = checkedStart(another, completed, sandbox);
  requirePossibleStart(start);
  return start;
}

/** Starts a checked scenario in place of a sandbox's, and runs what is due. Requests are counted from 1 again, with new ids. */
export function replaceScenario(sandbox: SandboxState, start: Start): void {
  const state = stateAtStart(start, sandbox.requestIds.series + 1);

  // Everything is replaced before any listener can read it.
  replaceState(sandbox, state);
  sandbox.journal.replaceWith();
  const { name, seed } = state;
  sandbox.journal.emit({ type: "sandbox.started", scenario: name, seed });
  runDue(sandbox);
}

/** The state of a scenario as it starts, before any step has run, or as it was saved. `series`: that of the request ids of a new one. */
function stateAtStart(start: Start, series = 0): ScenarioState {
  const { name, scenario, text, platform, run, saved } = start;
  // Read first, so that the clock never lags behind the real time, however long the rest takes.
  const readAt = platform.steadyTime();
  const startedAt = saved?.clock.startedAt ?? startOfClock(start);
  const { now = startedAt, frozen = scenario.clock?.frozen } = saved?.clock ?? {};
  const { seed = defaultSeed, story: steps = [], timeline = [], faults = [] } = scenario;

  const { profile: writtenProfile = "minimal", ...writtenAssumptions } = scenario.assumptions ?? {};
  const { profile = writtenProfile, ownAssumptions = writtenAssumptions } = saved ?? {};
  const endpoints = platform.endpoints(scenario);
  const behavior = behaviorOf({ seed, profile, ownAssumptions, run, endpoints });

  const newStory = { next: 0, results: [], last: undefined, resumesAtEnd: false };
  const { sha256 } = platform;
  return {
    name,
    scenario,
    text,
    seed,
    ...behavior,
    endpoints,
    routes: platform.routes(endpoints),
    clock: new VirtualClock({ time: platform.steadyTime, start: now, readAt, frozen }),
    startedAt,
    timeline: saved?.timeline ?? makeTimeline(timeline, startedAt),
    registry: saved ? savedRecords(saved) : startRecords(scenario, seed, sha256, startedAt, behavior),
    farmers: new Farmers(scenario, { seed, start: startedAt, make: platform.farmers }),
    unknownKeyHash: sha256(unknownSecret(seed)),
    faults: saved?.faults ?? activateFaults(faults, seed, startedAt),
    requestIds: new RequestIds(seed, saved?.requestIds.series ?? series, saved?.requestIds.count),
    history: new ClientHistory(saved?.history),
    story: { ...(saved?.story ?? newStory), steps },
    isChangedByUser: saved?.isChangedByUser ?? false,
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
function startOfClock({ scenario, platform, run }: Start): number {
  const now = scenario.clock?.now;
  if (now !== undefined) return requireInstant(now);
  return run?.clockStart ?? platform.time();
}
