import { cachedByObject } from "../rules/cached-by.js";
import { populatedNumbers, type ScenarioKey } from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { SandboxState } from "./sandbox-state.js";
import { keysWithSecrets } from "./secrets.js";

/** How many keys a program gets, unless a scenario lists more. */
const maxAnnounced = 1000;

/** How many of the keys that a scenario lists a person gets. */
const maxListedKeys = 40;

/** How many keys of a population stand for all, where a scenario lists no key. */
const maxOfPopulation = 5;

/** Some of the keys of a sandbox. */
interface ShownKeys {
  readonly keys: readonly ScenarioKey[];
  /** The number of keys that are left out. */
  readonly leftOut: number;
}

/** For a program that reads all: every key that the scenario lists, then keys of the population up to 1,000 in total. */
export function announcedKeys({ scenario }: SandboxState): ShownKeys {
  return announcedKeysOf(scenario);
}

/** Made once for each scenario: of a large population, the keys take time. */
const announcedKeysOf = /* @__PURE__ */ cachedByObject((scenario: Scenario): ShownKeys => {
  const { listed, ofPopulation, total } = keysByOrigin(scenario);
  const room = Math.max(0, maxAnnounced - listed.length);
  const keys = [...listed, ...ofPopulation.slice(0, room)];
  return { keys, leftOut: total - keys.length };
});

/** For a person who looks at a few: the first 40 keys that the scenario lists, or if it lists none, five of the population. */
export function firstKeys({ scenario }: SandboxState): ShownKeys {
  const { listed, ofPopulation, total } = keysByOrigin(scenario);
  const keys = listed.length > 0 ? listed.slice(0, maxListedKeys) : ofPopulation.slice(0, maxOfPopulation);
  return { keys, leftOut: total - keys.length };
}

/** The keys with a secret, by where the scenario has them. */
interface KeysByOrigin {
  readonly listed: readonly ScenarioKey[];
  readonly ofPopulation: readonly ScenarioKey[];
  readonly total: number;
}

function keysByOrigin(scenario: Scenario): KeysByOrigin {
  const listed: ScenarioKey[] = [];
  const ofPopulation: ScenarioKey[] = [];
  for (const key of keysWithSecrets(scenario)) {
    // Only the ref tells: a restored snapshot lists the keys of its population as well. `organization-1-key-2` is of a population.
    const isOfPopulation = populatedNumbers(key.ref)?.key !== undefined;
    if (isOfPopulation) ofPopulation.push(key);
    else listed.push(key);
  }
  return { listed, ofPopulation, total: listed.length + ofPopulation.length };
}
