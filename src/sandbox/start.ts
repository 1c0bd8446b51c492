import { sharedValues } from "../scenario/population.js";
import { ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { assumptionsFor } from "../spec/assumptions.js";
import { pathText } from "../spec/schema/shape.js";
import { createRequestIds, defaultSeed, numberInto } from "../spec/seed.js";
import { createClock, isoOf } from "./clock.js";
import { createCounters, windowsOf } from "./counters.js";
import { activateFaults } from "./faults.js";
import { createHistory } from "./history/history.js";
import { buildConsents, type Consents } from "./preview/consents.js";
import { farmersOf } from "./preview/farmers.js";
import { createRegistry } from "./registry.js";
import type { GivenOptions, Platform, SandboxState, StartedScenario, StartOptions } from "./sandbox.js";
import { scenarioRecords, startKey } from "./scenario-keys.js";
import { snapshotWorld } from "./snapshot.js";
import type { Story, StoryStep } from "./steps.js";
import { assumedAt, createTimeline, datedChanges } from "./timeline.js";
import { addedLimitsOf, withGrantedScopes, withNameEnding } from "./varied-records.js";

/** Options of a sandbox, for all its scenarios. */
export interface SandboxSettings {
  readonly platform: Platform;
  /** Options for every scenario that starts there later. Default: none. */
  readonly given?: GivenOptions | undefined;
  /** The group of its series of request ids, unique to this sandbox. Default: none. */
  readonly idGroup?: number | undefined;
}

/**
 * Starts a sandbox from a checked scenario.
 *
 * The same scenario, seed and start result in the same ids, names, secrets and request ids.
 */
export function startSandbox(
  scenario: Scenario,
  { platform, given = {}, idGroup, ...options }: StartOptions & SandboxSettings,
): SandboxState {
  const started = prepareScenario({ platform, idGroup }, scenario, options);
  const world: SandboxState = {
    ...started,
    ...{ platform, given, idGroup },
    idSeries: { last: started.requestIds.series() },
    counters: createCounters(),
    history: createHistory(() => {
      if (world.registry.keys.size > mostCopiedKeys) return undefined;
      const at = world.clock.now();
      return { scenario: snapshotWorld(world, at), at };
    }),
  };
  world.history.enter({ scenario: started.scenario, at: started.startedAt });
  return world;
}

/** Copying more keys would delay requests for too long. */
const mostCopiedKeys = 100;

/** Starts another scenario in a sandbox. Changes nothing if it cannot start. */
export function switchScenario(world: SandboxState, scenario: Scenario, options: StartOptions): void {
  enterScenario(world, prepareScenario(world, scenario, options));
}

/** Starts the scenario of a sandbox again. */
export function resetSandbox(world: SandboxState): void {
  enterScenario(world, startedWith(world, world.scenario, world));
}

/** Starts a prepared scenario in a sandbox, with the next series of request ids. */
export function enterScenario(world: SandboxState, started: StartedScenario): void {
  const { seed, scenario, startedAt: at, name } = started;
  world.idSeries.last += 1;
  const first = numberInto(world.idSeries.last, scenario.requests_answered ?? 0);
  Object.assign(world, started, { requestIds: createRequestIds(seed, first, world.idGroup) });
  world.history.enter({ scenario, at });
  world.history.announce({ type: "world.started", scenario: name, seed });
}

type Surroundings = Pick<SandboxState, "platform" | "idGroup">;

/** Returns the state of a checked scenario at its start. */
export function prepareScenario(
  surroundings: Surroundings,
  given: Scenario,
  options: StartOptions,
): StartedScenario {
  const scenario = withOptions(given, options);
  if (options.seed !== undefined) requireUniqueValues(scenario);
  return startedWith(surroundings, scenario, options);
}

function startedWith(
  { platform, idGroup }: Surroundings,
  scenario: Scenario,
  { name = scenario.name ?? "unnamed", text, trial }: Pick<StartOptions, "name" | "text" | "trial">,
): StartedScenario {
  const { seed = defaultSeed } = scenario;
  const start = scenario.clock?.now === undefined ? platform.time() : Date.parse(scenario.clock.now);
  const changes = scenario.changes && datedChanges(scenario.changes);
  const { profile = "minimal", ...own } = scenario.assumptions ?? {};
  const givenAssumptions = changes === undefined ? own : { ...own, ...assumedAt(changes, start) };
  const assumptions = assumptionsFor(profile, givenAssumptions);
  const windows = windowsOf(assumptions);
  const profiled = { seed, profile, givenAssumptions, trial };
  const { organizations, keys, unknownKey } = scenarioRecords(scenario, seed, platform.sha256);
  const isVaried = profile === "varied";
  const varied = isVaried
    ? {
        scopes: (first: string, scopes: readonly string[]) => withGrantedScopes(profiled, first, scopes),
        added: (first: string) => addedLimitsOf(profiled, first),
      }
    : undefined;
  const farmers = farmersOf(scenario, { seed, start, make: platform.farmers });
  const preview = scenario.preview === true;
  // A browser page without the farmers' tables fails here, not in a response.
  if (preview) farmers.idOf(0);
  return {
    ...{ name, scenario, text, startedAt: start, seed, profile, assumptions, givenAssumptions, windows },
    ...{ farmers, preview, changes, trial },
    clock: createClock({
      time: platform.steadyTime,
      start,
      frozen: scenario.clock?.frozen,
      // Clients wait longer when a fault hits them, which must not end their limits.
      holdsMinute: trial?.faults !== undefined,
    }),
    faults: { active: activateFaults(scenario.faults ?? [], seed, start) },
    consents: preview ? buildConsents(scenario, seed, start) : noConsents,
    timeline: createTimeline(scenario.timeline ?? [], start, changes),
    story: createStory(scenario.story ?? []),
    registry: createRegistry(
      isVaried ? organizations.map((one) => withNameEnding(profiled, one)) : organizations,
      keys.map((one) => startKey(one, { start, windows, varied })),
    ),
    requestIds: createRequestIds(seed, scenario.requests_answered, idGroup),
    behaviour: { rejected: new Map(), pages: new Set(), unknownKey },
  };
}

/** Creates a story whose first `stepsRun` steps have run. */
export function createStory(steps: readonly StoryStep[], stepsRun = 0): Story {
  return { steps, next: Math.min(stepsRun, steps.length), verdicts: new Map(), last: undefined };
}

// Another seed may generate a secret or an id that the scenario pins.
function requireUniqueValues(scenario: Scenario): void {
  const shared = sharedValues(scenario).map((one) => ({ ...one, path: pathText(one.path) }));
  if (shared.length > 0) throw new ScenarioError(shared);
}

// Without the preview, nothing can add a consent request.
const noConsents: Consents = {
  all: [],
  find: () => undefined,
  attestation: () => undefined,
  madeUnder: () => undefined,
  draft: refuseConsent,
  add: refuseConsent,
};

function refuseConsent(): never {
  throw new Error("a sandbox without the preview has no consent requests");
}

// Returns a scenario that starts the same sandbox without the options.
function withOptions(scenario: Scenario, { seed, now, frozen, profile, trial = {} }: StartOptions): Scenario {
  const movesClock = now !== undefined || frozen !== undefined;
  const { faults = [], assumptions = {}, changes } = trial;
  const assumes = profile !== undefined || Object.keys(assumptions).length > 0;
  const isSame = !assumes && !movesClock && faults.length === 0 && changes === undefined;
  if (seed === undefined && isSame) return scenario;
  const clock = {
    ...scenario.clock,
    ...(now !== undefined && { now: isoOf(now) }),
    ...(frozen !== undefined && { frozen }),
  };
  return {
    ...scenario,
    ...(seed !== undefined && { seed }),
    ...(movesClock && { clock }),
    ...(assumes && {
      assumptions: {
        ...scenario.assumptions,
        ...(assumptions as NonNullable<Scenario["assumptions"]>),
        ...(profile !== undefined && { profile }),
      },
    }),
    ...(changes !== undefined && { changes }),
    ...(faults.length > 0 && { faults: [...faults, ...(scenario.faults ?? [])] }),
  };
}
