import { pathText } from "../rules/schema/shape.js";
import { defaultSeed } from "../rules/seed.js";
import { checkInput, inputShapes } from "../scenario/format/inputs.js";
import { sharedValues } from "../scenario/population.js";
import { ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { type Instant, instantOf, isoOf, requireClockTime, VirtualClock } from "./clock.js";
import { activateFaults } from "./faults.js";
import { Counters } from "./journal/counts.js";
import { History } from "./journal/history.js";
import { farmersOf } from "./population/farmers.js";
import { assumptionsIn, withNameSuffix } from "./profile.js";
import { Registry } from "./registry.js";
import { createRequestIds, numberInto } from "./request-ids.js";
import {
  type ConditionedRun,
  type GivenOptions,
  type Platform,
  replaceState,
  type SandboxState,
  type StartedScenario,
  type StartOptions,
} from "./sandbox.js";
import { scenarioRecords, startKey } from "./scenario-keys.js";
import { createTimeline } from "./steps.js";
import { windowsOf } from "./usage.js";

export interface SandboxSettings {
  readonly platform: Platform;
  readonly conditions?: ConditionedRun | undefined;
  readonly given?: GivenOptions | undefined;
}

export function givenOptions({ seed, now, frozen, profile }: GivenOptions): GivenOptions {
  return { seed, now, frozen, profile };
}

type WrittenOptions = Omit<GivenOptions, "now"> & { readonly now?: Instant | undefined };

/** The options that a caller wrote, with the start of the clock as an instant; throws `validation_failed`. */
export function checkedOptions({ now, ...options }: WrittenOptions): GivenOptions {
  const { seed, frozen, profile } = options;
  const checked = givenOptions({ ...options, now: now === undefined ? undefined : instantOf(now) });
  if (seed !== undefined || frozen !== undefined || profile !== undefined) {
    checkInput(inputShapes.sandbox_options, { seed, frozen, profile }, "Invalid options");
  }
  return checked;
}

/** The same scenario, seed and start result in the same ids, names, secrets and request ids. */
export function startSandbox(
  scenario: Scenario,
  { platform, conditions, given = {}, ...options }: StartOptions & SandboxSettings,
): SandboxState {
  const started = prepareScenario({ platform, conditions }, scenario, options);
  return { ...started, platform, conditions, given, counters: new Counters(), history: new History() };
}

/** Starts the running scenario again, with other options if given; throws if it cannot start, and changes nothing then. */
export function resetSandbox(sandbox: SandboxState, options?: GivenOptions): void {
  const { scenario, name, text } = sandbox;
  const started =
    options === undefined
      ? startedWith(sandbox, scenario, sandbox)
      : prepareScenario(sandbox, scenario, { ...options, name, text });
  enterScenario(sandbox, started);
}

/** Starts another scenario in a sandbox, with the next series of request ids. */
export function enterScenario(sandbox: SandboxState, started: StartedScenario): void {
  const { seed, scenario, name } = started;
  const first = numberInto(sandbox.requestIds.series() + 1, scenario.requests_responded ?? 0);
  replaceState(sandbox, { ...started, requestIds: createRequestIds(seed, first) });
  sandbox.history.enter();
  sandbox.history.emit({ type: "sandbox.started", scenario: name, seed });
}

type StartContext = Pick<SandboxState, "platform" | "conditions">;

/** Returns the state of a checked scenario at its start; throws if it cannot start. */
export function prepareScenario(
  context: StartContext,
  given: Scenario,
  options: StartOptions,
): StartedScenario {
  if (options.now !== undefined) requireClockTime(options.now, "now");
  const scenario = withOptions(given, options);
  // Another seed may generate a secret or an id that the scenario pins.
  const shared = options.seed === undefined ? [] : sharedValues(scenario);
  if (shared.length > 0) throw new ScenarioError(shared.map((one) => ({ ...one, path: pathText(one.path) })));
  return startedWith(context, scenario, options);
}

function seededIn({ platform, conditions }: StartContext, scenario: Scenario) {
  const { seed = defaultSeed } = scenario;
  const { now } = scenario.clock ?? {};
  const start = now === undefined ? (conditions?.start ?? platform.time()) : instantOf(now);
  return { seed, start, farmers: farmersOf(scenario, { seed, start, make: platform.farmers }) };
}

function startedWith(
  context: StartContext,
  scenario: Scenario,
  { name = scenario.name ?? "unnamed", text }: Pick<StartOptions, "name" | "text">,
): StartedScenario {
  const { platform, conditions } = context;
  // Read before the start, so that the clock never lags behind the real time, however long the rest takes.
  const readAt = platform.steadyTime();
  const { seed, start, farmers } = seededIn(context, scenario);
  const endpoints = platform.endpoints(scenario);
  const { profile = "minimal", ...givenAssumptions } = scenario.assumptions ?? {};
  const profiled = { seed, profile, givenAssumptions, conditions, endpoints };
  const assumptions = assumptionsIn(profiled);
  const windows = windowsOf(assumptions);
  const { organizations, keys, unknownKey } = scenarioRecords(scenario, seed, platform.sha256);
  return {
    name,
    scenario,
    text,
    startedAt: start,
    seed,
    profile,
    assumptions,
    givenAssumptions,
    windows,
    farmers,
    endpoints,
    clock: new VirtualClock({ time: platform.steadyTime, start, readAt, frozen: scenario.clock?.frozen }),
    faults: activateFaults(scenario.faults ?? [], seed, start),
    timeline: createTimeline(scenario.timeline ?? [], start),
    story: { steps: scenario.story ?? [], next: 0, verdicts: new Map(), last: undefined },
    registry: new Registry(
      organizations.map((one) => withNameSuffix(profiled, one)),
      keys.map((one) => startKey(one, start, windows, profiled)),
    ),
    requestIds: createRequestIds(seed, scenario.requests_responded),
    behavior: { rejected: new Map(), pages: new Set(), unknownKey },
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
