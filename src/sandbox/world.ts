import { type Assumptions, assumptionsFor, type Profile } from "../domain/assumptions.js";
import { SandboxError } from "../domain/sandbox-error.js";
import { defaultSeed } from "../domain/seed.js";
import { expandPopulation } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { buildConsents } from "./build-consents.js";
import { type DescribedKey, describedKeys, type KeyBuilding, keyBuilder, secretsOf } from "./build-keys.js";
import { buildOrganizations } from "./build-organizations.js";
import { type Clock, createClock } from "./clock.js";
import { type Conduct, createConduct } from "./conduct.js";
import type { Consents } from "./consents.js";
import { type Counters, createCounters } from "./counters.js";
import { type Announcements, createAnnouncements } from "./events.js";
import { type Farmers, farmersOf } from "./farm-population.js";
import { activateFaults, type Faults } from "./faults.js";
import { createHashIndex } from "./hash-index.js";
import { createJournal, type Journal } from "./journal.js";
import type { Platform } from "./platform.js";
import { createRegistry, type DescribedKeys, type Registry } from "./registry.js";
import { createRequestIds, type RequestIds } from "./request-ids.js";
import { deriveSecret } from "./secrets.js";
import type { Story } from "./story/story.js";
import { createTimeline, type Timeline } from "./story/timeline.js";
import { startUsage, type Windows, windowsOf } from "./usage.js";
import { withOptions } from "./with-options.js";

/** One running world. Worlds share nothing: a process can hold many. */
export interface World {
  /** What people call the scenario: its bundled name, its file, or its title. */
  readonly name: string;
  /**
   * What it was started from, its population written out, with what the options said instead: starting that again is to
   * reset it.
   */
  readonly scenario: Scenario;
  readonly seed: number;
  /** The profile that the assumptions are based on; with `varied`, answers vary in all that is left open. */
  readonly profile: Profile;
  readonly assumptions: Assumptions;
  /** Those of them that were given rather than set by the profile; with `varied`, these do not vary. */
  readonly givenAssumptions: Partial<Assumptions>;
  readonly windows: Windows;
  /** Assumes what the profile sets, except what is given; for `changeAssumptions`, which carries the usage over. */
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
  readonly conduct: Conduct;
  /** Where its requests are counted: in its runtime, once it runs in one, so that the counts outlive it. */
  counters: Counters;
  /** Tells what happens in this world. */
  readonly events: Announcements;
  readonly requestIds: RequestIds;
  readonly platform: Platform;
}

/** How to start a world. */
export interface WorldOptions {
  readonly platform: Platform;
  /** What people call the scenario. Default: its title, else `unnamed`. */
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
  // Not what the clock shows by now, which may be a moment later: two worlds would differ by it.
  const now = start ?? clock.now();
  const { profile: scenarioProfile, ...assumed } = scenario.assumptions ?? {};
  const profile = options.profile ?? scenarioProfile ?? "minimal";
  const assumptions = assumptionsFor(profile, assumed);
  const windows = windowsOf(assumptions);

  const registry = createRegistry(
    buildOrganizations(scenario, seed),
    keysOf(scenario, { seed, start: now, sha256: platform.sha256 }, windows),
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
    conduct: createConduct(),
    counters: createCounters(),
    platform,
  };
  return world;
}

function keysOf(scenario: Scenario, building: KeyBuilding, windows: Windows): DescribedKeys {
  const described = describedKeys(scenario);
  const { sha256Of, recordOf } = keyBuilder(described, building);
  const hashes = createHashIndex(described.length);
  for (const one of described) hashes.add(sha256Of(one));
  return {
    described,
    hashes,
    make(place) {
      const one = described[place] as DescribedKey;
      const used = one.given.usage;
      const usage = startUsage(windows, building.start, {
        thisMinute: used?.this_minute,
        today: used?.today,
        countedAt: used?.counted_at?.map(Date.parse),
      });
      return { key: recordOf(one, hashes.at(place)), usage };
    },
  };
}

/** The full keys of the scenario by ref, derived anew: the world itself keeps only hashes (R35). */
export function scenarioSecrets(world: World): Record<string, string> {
  const written = describedKeys(world.scenario).filter(({ given }) => given.sha256 === undefined);
  return secretsOf(written, world);
}

/**
 * The full key of one ref of the scenario.
 *
 * Throws `unknown_ref`, with the refs there are, or `secret_not_kept` for a key that was made at run time (R36).
 */
export function scenarioSecret(world: World, ref: string): string {
  const { key } = world.registry.key(ref);
  const pinned = world.scenario.organizations?.[key.organization]?.keys?.[ref]?.secret;
  // What the seed gives is given again, to keys of the scenario and to those that its timeline and story have made.
  const secret = pinned ?? deriveSecret(world.seed, key);
  if (world.platform.sha256(secret) === key.sha256) return secret;
  throw new SandboxError(
    "secret_not_kept",
    `Failed to tell the secret of ${JSON.stringify(ref)}: a key made at run time is shown once, when it is made.`,
    { ref },
  );
}

/** The ref of the key that clients get when they ask for none; `undefined` when the scenario has no key. */
export function defaultKeyRef(scenario: Scenario): string | undefined {
  return scenario.default_key ?? describedKeys(scenario)[0]?.ref;
}
