import { sharedValues } from "../scenario/population.js";
import { ScenarioError } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { assumptionsFor } from "../spec/assumptions.js";
import { pathText } from "../spec/schema/shape.js";
import { createRequestIds, defaultSeed } from "../spec/seed.js";
import { assumedAt, datedChanges } from "./changes.js";
import { createClock, isoOf } from "./clock.js";
import { createCounters, windowsOf } from "./counters.js";
import { activateFaults } from "./faults.js";
import { type Beginning, createHistory } from "./history/history.js";
import { buildConsents, type Consents } from "./preview/consents.js";
import { farmersOf } from "./preview/farmers.js";
import { createRegistry } from "./registry.js";
import { scenarioRecords, startKey } from "./scenario-keys.js";
import { snapshotWorld } from "./snapshot.js";
import { createStory, createTimeline } from "./steps.js";
import { settleTimeline } from "./story/timeline.js";
import { addedLimitsOf, withGrantedScopes, withNameEnding } from "./varied-records.js";
import type { World, WorldOptions } from "./world.js";

/**
 * Starts a sandbox from a checked scenario.
 *
 * The same scenario, seed and start result in the same ids, names, secrets and request ids.
 */
export function createWorld(given: Scenario, options: WorldOptions): World {
  const scenario = withOptions(given, options);
  const { platform, trial } = options;
  const { seed = defaultSeed } = scenario;
  if (options.seed !== undefined) requireUniqueValues(scenario);
  const start = scenario.clock?.now === undefined ? platform.time() : Date.parse(scenario.clock.now);
  // Clients wait longer when a fault hits them, which must not end their limits.
  const holdsMinute = trial?.faults !== undefined;
  const clock = createClock({
    time: platform.steadyTime,
    start,
    frozen: scenario.clock?.frozen,
    holdsMinute,
  });
  const changes = scenario.changes && datedChanges(scenario.changes);
  const { profile = "minimal", ...own } = scenario.assumptions ?? {};
  const assumed = changes === undefined ? own : { ...own, ...assumedAt(changes, start) };
  const assumptions = assumptionsFor(profile, assumed);
  const windows = windowsOf(assumptions);

  const profiled = { seed, profile, givenAssumptions: assumed, trial };
  const { organizations, keys, unknownKey } = scenarioRecords(scenario, seed, platform.sha256);
  const isVaried = profile === "varied";
  const varied = isVaried
    ? {
        scopes: (first: string, scopes: readonly string[]) => withGrantedScopes(profiled, first, scopes),
        added: (first: string) => addedLimitsOf(profiled, first),
      }
    : undefined;
  const requestIds = createRequestIds(seed, scenario.requests_answered);
  const farmers = farmersOf(scenario, { seed, start, make: platform.farmers });
  // A browser page without the farmers' tables fails here, not in a response.
  if (scenario.preview === true) farmers.idOf(0);
  const world: World = {
    name: options.name ?? scenario.name ?? "unnamed",
    scenario,
    text: options.text,
    seed,
    profile,
    assumptions,
    givenAssumptions: assumed,
    windows,
    clock,
    faults: { active: activateFaults(scenario.faults ?? [], seed, start) },
    farmers,
    preview: scenario.preview ?? false,
    consents: scenario.preview === true ? buildConsents(scenario, seed, start) : noConsents,
    changes,
    timeline: createTimeline(scenario.timeline ?? [], start, changes),
    settle: () => settleTimeline(world),
    story: createStory(scenario.story ?? []),
    registry: createRegistry(
      isVaried ? organizations.map((one) => withNameEnding(profiled, one)) : organizations,
      keys.map((one) => startKey(one, { start, windows, varied })),
    ),
    requestIds,
    history: createHistory({ beginning: { scenario, at: start }, look: () => beginningOf(world) }),
    behaviour: {
      rejected: new Map(),
      pages: new Set(),
      unknownKey,
    },
    counters: createCounters(),
    platform,
    trial,
  };
  return world;
}

/** Copying more keys would delay requests for too long. */
const mostCopiedKeys = 100;

function beginningOf(world: World): Beginning | undefined {
  if (world.registry.keys.size > mostCopiedKeys) return undefined;
  const at = world.clock.now();
  return { scenario: snapshotWorld(world, at), at };
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
function withOptions(
  scenario: Scenario,
  { seed, now, frozen, profile, trial = {} }: Omit<WorldOptions, "platform">,
): Scenario {
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
