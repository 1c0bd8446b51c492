import { type Assumptions, assumptionsFor, type Profile } from "../domain/assumptions.js";
import type { Organization } from "../domain/organization.js";
import { defaultSeed, randomStream, uuidFrom } from "../domain/seed.js";
import { expandPopulation } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { FarmerMaker } from "../synthetic/farmers/farmers.js";
import { inventOrganizationName } from "../synthetic/names.js";
import { type ClientBehaviour, createClientBehaviour } from "./behaviour/client-behaviour.js";
import { type Clock, createClock, isoOf } from "./clock.js";
import { type Counters, createCounters } from "./counters.js";
import { type Announcements, createAnnouncements } from "./events.js";
import { activateFaults, type Faults } from "./faults.js";
import { createJournal, createRequestIds, type Journal, type RequestIds } from "./journal.js";
import { buildConsents, type Consents } from "./preview/consents.js";
import { type Farmers, farmersOf } from "./preview/farmers.js";
import { createRegistry, type Registry } from "./registry.js";
import { scenarioKeys } from "./scenario-keys.js";
import type { Story } from "./story/story.js";
import { createTimeline, type Timeline } from "./story/timeline.js";
import { type Windows, windowsOf } from "./usage.js";

/** Time, randomness, a hash and the tables of farmers, passed in so that a world runs in Node and in browsers. */
export interface Platform {
  /** SHA-256 of the text's UTF-8 bytes, as 64 lower-case hex digits. */
  readonly sha256: (text: string) => string;
  /** The wall clock, in epoch milliseconds. */
  readonly time: () => number;
  /** A clock for durations, in milliseconds with fractions. */
  readonly stopwatch: () => number;
  /** Unpredictable unsigned 32-bit integers, for the keys that are created at run time and for nothing else. */
  readonly random: () => number;
  /** Makes farmers; not called before one is read. */
  readonly farmers: FarmerMaker;
}

/** One running world. Worlds share nothing: a process can hold many. */
export interface World {
  /** The bundled name, the file or the title of the scenario. */
  readonly name: string;
  /** The scenario with its population expanded and the options applied; `reset` starts it again. */
  readonly scenario: Scenario;
  readonly seed: number;
  /** The profile that the assumptions are based on; with `varied`, answers vary in all that is left open. */
  readonly profile: Profile;
  readonly assumptions: Assumptions;
  /** The assumptions given rather than set by the profile; with `varied`, these do not vary. */
  readonly givenAssumptions: Partial<Assumptions>;
  readonly windows: Windows;
  /** Assumes what the profile sets, except what is given. Only for `changeAssumptions`, which carries the usage over. */
  readonly assume: (profile: Profile, given: Partial<Assumptions>) => void;
  readonly clock: Clock;
  readonly faults: Faults;
  readonly farmers: Farmers;
  /** Whether there is a preview of the announced endpoints; without it their paths are unknown ones (R49). */
  readonly preview: boolean;
  readonly consents: Consents;
  readonly timeline: Timeline;
  readonly story: Story;
  readonly registry: Registry;
  readonly journal: Journal;
  readonly behaviour: ClientBehaviour;
  /** The counters of its requests: those of its runtime, once it runs in one, so that the counts outlive it. */
  counters: Counters;
  /** Announces what happens in this world. */
  readonly events: Announcements;
  readonly requestIds: RequestIds;
  readonly platform: Platform;
}

/** How to start a world. */
export interface WorldOptions {
  readonly platform: Platform;
  /** Default: the title of the scenario, else `unnamed`. */
  readonly name?: string;
  /** Default: the scenario's, else 1. */
  readonly seed?: number;
  /** When the clock starts (epoch milliseconds). Default: the scenario's, else the wall clock. */
  readonly now?: number;
  /** Default: the scenario's, else false. */
  readonly frozen?: boolean;
  /** Default: the scenario's, else `minimal`. */
  readonly profile?: Profile;
}

/**
 * Starts a world from a checked scenario.
 *
 * The same scenario, seed and start give the same world: ids, names, secrets, request ids.
 */
export function createWorld(given: Scenario, options: WorldOptions): World {
  const scenario = expandPopulation(given);
  const { platform } = options;
  const seed = options.seed ?? scenario.seed ?? defaultSeed;
  const pinned = scenario.clock?.now === undefined ? undefined : Date.parse(scenario.clock.now);
  const start = options.now ?? pinned;
  const clock = createClock({
    time: platform.time,
    frozen: options.frozen ?? scenario.clock?.frozen ?? false,
    ...(start !== undefined && { start }),
  });
  // Read once: the clock may show a later moment by now, and two worlds would differ by it.
  const now = start ?? clock.now();
  const { profile: scenarioProfile, ...assumed } = scenario.assumptions ?? {};
  const profile = options.profile ?? scenarioProfile ?? "minimal";
  const assumptions = assumptionsFor(profile, assumed);
  const windows = windowsOf(assumptions);

  const registry = createRegistry(
    buildOrganizations(scenario, seed),
    scenarioKeys(scenario, { seed, start: now, sha256: platform.sha256, windows }),
  );
  const requestIds = createRequestIds(seed, scenario.requests_answered);
  const world: World = {
    name: options.name ?? scenario.name ?? "unnamed",
    scenario: withOptions(scenario, options),
    seed,
    profile,
    assumptions,
    givenAssumptions: assumed,
    windows,
    assume(base, givenNext) {
      const next = assumptionsFor(base, givenNext);
      Object.assign(world, {
        profile: base,
        assumptions: next,
        givenAssumptions: givenNext,
        windows: windowsOf(next),
      });
    },
    clock,
    faults: { active: activateFaults(scenario.faults ?? [], seed, now) },
    farmers: farmersOf(scenario, { seed, start: now, make: platform.farmers }),
    preview: scenario.preview ?? false,
    consents: buildConsents(scenario, seed, now),
    timeline: createTimeline(scenario.timeline ?? [], now),
    story: { steps: scenario.story ?? [], next: 0 },
    registry,
    events: createAnnouncements(),
    requestIds,
    journal: createJournal(requestIds.idOf),
    behaviour: createClientBehaviour(),
    counters: createCounters(),
    platform,
  };
  return world;
}

/** The organizations of a scenario; what it leaves out is derived from the seed and the ref. */
export function buildOrganizations(scenario: Scenario, seed: number): Organization[] {
  return Object.entries(scenario.organizations ?? {}).map(([ref, given]) => ({
    ref,
    id: given.id ?? uuidFrom(randomStream(seed, "organization.id", ref)),
    name: given.name ?? inventOrganizationName(seed, ref, given.type),
    type: given.type,
    status: given.status ?? "active",
    sandboxAccess: given.sandbox_access ?? true,
    liveAccess: given.live_access ?? "not_approved",
  }));
}

// A copy of the scenario that starts the same world without the options as this one with them.
function withOptions(
  scenario: Scenario,
  { seed, now, frozen, profile }: Omit<WorldOptions, "platform">,
): Scenario {
  const movesClock = now !== undefined || frozen !== undefined;
  if (seed === undefined && profile === undefined && !movesClock) return scenario;
  const clock = {
    ...scenario.clock,
    ...(now !== undefined && { now: isoOf(now) }),
    ...(frozen !== undefined && { frozen }),
  };
  return {
    ...scenario,
    ...(seed !== undefined && { seed }),
    ...(movesClock && { clock }),
    ...(profile !== undefined && { assumptions: { ...scenario.assumptions, profile } }),
  };
}
