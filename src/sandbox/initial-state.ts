import { defaultSeed } from "../rules/seed.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { activateFaults } from "./active-faults.js";
import { VirtualClock } from "./clock.js";
import { Farmers } from "./farmer-records/farmer-list.js";
import { ClientBehavior } from "./journal/client-behavior.js";
import type { Platform } from "./platform.js";
import { assumptionsInEffect } from "./profile.js";
import { Registry } from "./registry.js";
import { RequestIds } from "./request-ids.js";
import type { ConditionedRun, ScenarioState } from "./sandbox-state.js";
import { scenarioRecords, startKey } from "./scenario-records.js";
import type { Start } from "./start.js";
import { requireInstant } from "./time-input.js";
import { createTimeline } from "./timeline.js";
import { windowsOf } from "./usage.js";
import { recordAdditions } from "./varied-records.js";

/**
 * What follows from the scenario of a start, before any step has run. `idsBefore`: those that the sandbox has given to requests
 * with the scenario before this one, which must not come again.
 */
export function initialState(start: Start, idsBefore?: RequestIds): ScenarioState {
  const { name, scenario, text, platform, run } = start;
  // Read first, so that the clock never lags behind the real time, however long the rest takes.
  const readAt = platform.steadyTime();
  const { seed = defaultSeed, requests_responded: requestsBefore = 0 } = scenario;
  const startedAt = startOfClock(scenario, platform, run);
  const farmers = new Farmers(scenario, { seed, start: startedAt, make: platform.farmers });
  const endpoints = platform.endpoints(scenario);

  // How the API behaves.
  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const settings = { seed, profile, ownAssumptions, run, endpoints };
  const assumptions = assumptionsInEffect(settings);
  const windows = windowsOf(assumptions);
  const additions = recordAdditions(settings);

  // The organizations and keys.
  const records = scenarioRecords(scenario, seed, platform.sha256);
  const registry = new Registry(records.organizations);
  for (const key of records.keys) startKey(registry, key, startedAt, windows, additions.limits);

  return {
    name,
    scenario,
    text,
    startedAt,
    seed,
    profile,
    assumptions,
    ownAssumptions,
    windows,
    additions,
    farmers,
    endpoints,
    clock: new VirtualClock({
      time: platform.steadyTime,
      start: startedAt,
      readAt,
      frozen: scenario.clock?.frozen,
    }),
    faults: activateFaults(scenario.faults ?? [], seed, startedAt),
    timeline: createTimeline(scenario.timeline ?? [], startedAt),
    story: {
      steps: scenario.story ?? [],
      next: 0,
      results: new Map(),
      last: undefined,
      resumesAtEnd: false,
    },
    registry,
    requestIds: idsBefore?.nextSeries(seed, requestsBefore) ?? new RequestIds(seed, requestsBefore),
    unknownKeyHash: records.unknownKeyHash,
    behavior: new ClientBehavior(),
    isChangedByUser: false,
  };
}

/** When the clock starts: at the scenario's time, or else at the run's, or else at the real time. */
export function startOfClock(
  scenario: Scenario,
  platform: Platform,
  run: ConditionedRun | undefined,
): number {
  const now = scenario.clock?.now;
  if (now !== undefined) return requireInstant(now);
  return run?.clockStart ?? platform.time();
}
