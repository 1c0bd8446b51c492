import { type Assumptions, profiles } from "../rules/assumptions.js";
import { type KeyRecord, lastClockInstant } from "../rules/key-state.js";
import { environments } from "../rules/keys/key-text.js";
import { organizationViewFields } from "../rules/organization.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { defaultSeed } from "../rules/seed.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import * as s from "../schema/shape.js";
import { VirtualClock } from "./clock.js";
import { activateFaults, type Fault, writtenFaults } from "./faults.js";
import type { Counts } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import { Registry } from "./registry.js";
import { RequestIds } from "./request-ids.js";
import type { SandboxState } from "./sandbox-state.js";
import { type Start, sandboxWith, scenarioState } from "./start-sandbox.js";
import type { StoryProgress, Timeline } from "./steps.js";

// A sandbox as JSON, without the options of its start. It has the records and the clock as they are, and is no scenario: what a
// sandbox has acknowledged can always be continued, whatever the rules for what people write say of it.

const maxSaved = 100;

const savedInstant = s.number();

const savedOrganization = s.mapping({
  ref: s.text(),
  id: s.text(),
  name: s.text(),
  ...organizationViewFields,
});

const savedKey = s.mapping({
  ref: s.text(),
  organization: s.text(),
  name: s.text(),
  scopes: s.list(s.text()),
  limits: s.mapping({ perMinute: s.integer(), perDay: s.integer() }),
  environment: s.choice(environments),
  legacy: s.flag(),
  sha256: s.text(),
  createdAt: s.optional(savedInstant),
  revokedAt: s.optional(savedInstant),
  expiresAt: s.optional(savedInstant),
  overlapEndsAt: s.optional(savedInstant),
  replacedBy: s.optional(s.text()),
  replaces: s.optional(s.text()),
  usage: s.mapping({
    minuteCount: s.integer(),
    minuteEndsAt: savedInstant,
    dayCount: s.integer(),
    dayEndsAt: savedInstant,
    counted: s.list(s.mapping({ at: savedInstant, count: s.integer() })),
  }),
});

/** A part that only its type describes: a state file has a checksum, and the number of its form. */
const plainData = <Data>() => s.anything() as s.Shape<Data>;

/** All that a sandbox needs to continue, and what it keeps of requests. */
export const savedSandboxShape = s.mapping({
  /** When it was saved, on the platform's wall clock (epoch milliseconds). */
  at: savedInstant,
  name: s.text(),
  text: s.optional(s.text()),
  scenario: plainData<Scenario>(),
  /** `startedAt`: when the scenario started, on this clock. */
  clock: s.mapping({ startedAt: savedInstant, now: savedInstant, frozen: s.flag() }),
  profile: s.choice(profiles),
  ownAssumptions: plainData<Partial<Assumptions>>(),
  organizations: s.list(savedOrganization),
  /** As scenarios write them, with absolute times. */
  faults: s.list(plainData<Fault>()),
  /** Includes the steps that ran, so that the others keep their numbers. */
  timeline: plainData<Timeline>(),
  story: plainData<Omit<StoryProgress, "steps">>(),
  isChangedByUser: s.flag(),
  requestIds: s.mapping({ series: s.integer(), count: s.integer() }),
  exchanges: s.list(plainData<Exchange>()),
  total: s.integer(),
  counts: plainData<Counts>(),
  /** What advice depends on: as in `ClientBehavior`. */
  behavior: s.mapping({
    lastRejections: s.list(plainData<readonly [fingerprint: string, outcome: OutcomeId]>()),
    preflightOrigins: s.list(s.text()),
    keysThatWorked: s.list(s.text()),
    rotatedKeys: s.list(s.text()),
  }),
  /** In the scenario's order, then in order of creation. */
  keys: s.list(savedKey),
});

export interface SavedSandbox extends s.ValueOf<typeof savedSandboxShape> {}

/** The JSON of a sandbox as a `SavedSandbox`, in parts: with 100,000 keys, it would take as much memory as the sandbox. */
export function* saveSandbox(sandbox: SandboxState): Generator<string> {
  const withoutKeys = JSON.stringify(savedWithoutKeys(sandbox));
  yield `${withoutKeys.slice(0, -1)},"keys":[`; // the object goes on
  let separator = "";
  for (const { key, usage } of sandbox.registry.keys.values()) {
    const savedKey: SavedSandbox["keys"][number] = { ...key, usage };
    yield separator + JSON.stringify(savedKey);
    separator = ",";
  }
  yield "]}";
}

function savedWithoutKeys(sandbox: SandboxState): Omit<SavedSandbox, "keys"> {
  const { clock, requestIds, story, journal, behavior, registry } = sandbox;
  const { steps, ...progress } = story;
  return {
    // The wall clock is read first, so that the restored clock never lags behind.
    at: sandbox.platform.time(),
    name: sandbox.name,
    text: sandbox.text,
    scenario: sandbox.scenario,
    clock: { startedAt: sandbox.startedAt, now: clock.now(), frozen: clock.isFrozen() },
    profile: sandbox.profile,
    ownAssumptions: sandbox.ownAssumptions,
    organizations: Array.from(registry.organizations.values(), ({ organization }) => organization),
    faults: writtenFaults(sandbox.faults),
    timeline: sandbox.timeline,
    story: progress,
    isChangedByUser: sandbox.isChangedByUser,
    requestIds: { series: requestIds.series, count: requestIds.count() },
    exchanges: journal.requests({ probes: true, limit: maxSaved }),
    total: journal.total(),
    counts: sandbox.counters.read(),
    behavior: {
      lastRejections: [...behavior.lastRejections],
      preflightOrigins: [...behavior.preflightOrigins],
      keysThatWorked: [...behavior.keysThatWorked],
      rotatedKeys: [...behavior.rotatedKeys],
    },
  };
}

/**
 * Continues a saved sandbox in place of the scenario of a start, whose options are then only for scenarios that start later. The
 * saved clock has advanced meanwhile, unless it is frozen.
 */
export function restoreSandbox(saved: SavedSandbox, start: Start): SandboxState {
  const { name, text, scenario, requestIds } = saved;
  const { platform } = start;
  // Both are read first: from then on, the clock counts the time itself.
  const readAt = platform.steadyTime();
  const msSinceSaved = platform.time() - saved.at;
  // The clock has advanced, unless it is frozen, or the wall clock was set back.
  let { now } = saved.clock;
  const hasAdvanced = !saved.clock.frozen && msSinceSaved >= 0;
  if (hasAdvanced) now = Math.min(now + msSinceSaved, Math.max(now, lastClockInstant));
  const clock = new VirtualClock({
    time: platform.steadyTime,
    start: now,
    readAt,
    frozen: saved.clock.frozen,
  });

  const ownStart: Start = { ...start, name, text, scenario };
  const { seed = defaultSeed } = scenario;
  const state = scenarioState(ownStart, {
    clock,
    startedAt: saved.clock.startedAt,
    profile: saved.profile,
    ownAssumptions: saved.ownAssumptions,
    makeRegistry: () => restoredRegistry(saved),
    faults: activateFaults(saved.faults, seed, now),
    timeline: { ...saved.timeline },
    story: { ...saved.story, steps: scenario.story ?? [], results: [...saved.story.results] },
    // The latest requests may not be saved: no id of their series is given out again.
    requestIds: new RequestIds(seed, requestIds.series + 1, requestIds.count),
    isChangedByUser: saved.isChangedByUser,
  });

  const sandbox = sandboxWith(ownStart, state);
  const { behavior } = sandbox;
  for (const [fingerprint, outcome] of saved.behavior.lastRejections) {
    behavior.noteRejection(fingerprint, outcome);
  }
  for (const origin of saved.behavior.preflightOrigins) behavior.notePreflight(origin);
  for (const ref of saved.behavior.keysThatWorked) behavior.keysThatWorked.add(ref);
  for (const ref of saved.behavior.rotatedKeys) behavior.rotatedKeys.add(ref);
  sandbox.counters.restore(saved.counts);
  sandbox.journal.replaceWith(saved.exchanges, saved.total);
  return sandbox;
}

function restoredRegistry({ organizations, keys }: SavedSandbox): Registry {
  const registry = new Registry(organizations);
  for (const { usage, ...key } of keys) {
    const record = key as KeyRecord; // JSON has no member that is `undefined`
    registry.addKey(record, { ...usage, counted: [...usage.counted] });
  }
  return registry;
}
