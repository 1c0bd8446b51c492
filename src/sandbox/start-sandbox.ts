import { profiles } from "../rules/assumptions.js";
import { isoTime } from "../rules/time.js";
import { checkedCopy } from "../rules/validation.js";
import { duplicateSecretsAndIds } from "../scenario/checks/duplicate-values.js";
import { libraryNotation } from "../scenario/format/notations.js";
import { problemAt } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { ScenarioError } from "../scenario/scenario-error.js";
import type { NamedScenario } from "../scenario/scenario-source.js";
import * as s from "../schema/shape.js";
import { requireClockTime } from "./clock.js";
import { initialState, startOfClock } from "./initial-state.js";
import { invocationOfServer } from "./invocation.js";
import { Counters } from "./journal/counts.js";
import { Journal } from "./journal/journal.js";
import { runDue } from "./operations/operations.js";
import { replaceState, type SandboxState, type StartOptions } from "./sandbox-state.js";
import type { Start, Surroundings } from "./start.js";
import { requireInstant } from "./time-input.js";
import { pastStepProblem } from "./timeline.js";

// Each start is checked first, which changes nothing, and made then. What a user does, and how it differs:
//
// | a user                 | checked by           | made by           | a step before the start of the clock | ids of requests  |
// |------------------------|----------------------|-------------------|--------------------------------------|------------------|
// | starts a sandbox       | `checkedStart`       | `startSandbox`    | is an error, except with a set clock | of a new sandbox |
// | starts another         | `checkedReplacement` | `replaceScenario` | is an error, except with a set clock | the next series  |
// | resets                 | `restartSandbox`     | `restartSandbox`  | runs, since it may be over by now    | the next series  |
// | continues from a file  | `checkedStart`       | `restoreSandbox`  | has run already                      | the next series  |
//
// A clock is set by the option `now` or by the scenario. The steps before a set clock's start are due at the start.

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
  { scenario, name, text }: NamedScenario,
  options: StartOptions,
  { platform, run, invocation }: Surroundings,
): Start {
  const { seed, frozen, profile } = options;
  const now = options.now === undefined ? undefined : requireInstant(options.now);
  checkedCopy(startOptionsShape, { seed, frozen, profile }, "start the sandbox", libraryNotation);
  if (now !== undefined) requireClockTime(now, "now");

  const startOptions: StartOptions = { seed, now, frozen, profile };
  const started = withOptions(scenario, startOptions);
  if (seed !== undefined) requireDistinctValues(started);
  return { name, scenario: started, text, startOptions, platform, run, invocation };
}

/**
 * Starts a sandbox. What is due at the start runs with the first `runDue`, so that listeners hear of it. The same scenario, seed and
 * start result in the same ids, names, secrets and request ids. Throws as `requireStepsAhead` does.
 */
export function startSandbox(start: Start): SandboxState {
  requireStepsAhead(start);
  return createState(start);
}

/** The state of a new sandbox, of which no step has run. Its steps are not checked: those of a saved sandbox may be before the start of its clock. */
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
  const start = checkedStart(another, completed, surroundingsOf(sandbox));
  requireStepsAhead(start);
  return start;
}

/** Where a sandbox runs: another start has the same. */
function surroundingsOf({ platform, run, invocation }: SandboxState): Surroundings {
  return { platform, run, invocation };
}

/** Starts a checked scenario in place of a sandbox's, and runs what is due. Requests are counted from 1 again, with new ids. */
export function replaceScenario(sandbox: SandboxState, start: Start): void {
  const initial = initialState(start, sandbox.requestIds);

  // Everything is replaced before any listener can read it.
  replaceState(sandbox, initial);
  sandbox.journal.replaceWith();
  const { name, seed } = initial;
  sandbox.journal.emit({ type: "sandbox.started", scenario: name, seed });
  runDue(sandbox);
}

/** Throws a `ScenarioError` for a step of the timeline that is before the start of the clock, unless the clock is set. */
export function requireStepsAhead({ scenario, platform, run }: Start): void {
  // The option `now` sets it, too: `checkedStart` has put it into the scenario.
  const isClockSet = scenario.clock?.now !== undefined;
  if (isClockSet) return;

  const problem = pastStepProblem(scenario, startOfClock(scenario, platform, run));
  if (problem !== undefined) throw new ScenarioError([problemAt(problem)]);
}

/** Throws a `ScenarioError` if two keys have one secret, or two organizations one id: a seed may generate what the scenario pins. */
function requireDistinctValues(scenario: Scenario): void {
  const shared = duplicateSecretsAndIds(scenario);
  if (shared.length > 0) throw new ScenarioError(shared.map((problem) => problemAt(problem)));
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
