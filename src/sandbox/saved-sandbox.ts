import { lastClockInstant } from "../rules/key-state.js";
import type { OutcomeId } from "../rules/outcomes.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { VirtualClock } from "./clock.js";
import type { ClientBehavior } from "./journal/client-behavior.js";
import type { Counts } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import { jsonWithParts } from "./json-with-parts.js";
import { RequestIds } from "./request-ids.js";
import { replaceState, type SandboxState } from "./sandbox-state.js";
import { snapshotInParts } from "./snapshot.js";
import type { Start } from "./start.js";
import { createState } from "./start-sandbox.js";
import type { PlayedStep } from "./step-results.js";
import type { StoryProgress } from "./story-progress.js";
import type { Timeline } from "./timeline.js";

/** How many of the latest requests of the journal are saved. */
const maxSaved = 100;

/**
 * A sandbox as plain data, without the options of its start. `restoreSandbox` starts its `snapshot`, then sets what a scenario
 * cannot say: the other members.
 */
export interface SavedSandbox {
  /** When it was saved, on the platform's wall clock (epoch milliseconds). */
  readonly at: number;
  readonly name: string;
  /** The YAML of its scenario. */
  readonly text: string | undefined;
  /** The scenario that a reset starts again. */
  readonly scenario: Scenario;
  /** The state as a scenario. */
  readonly snapshot: Scenario;
  /** When the scenario started (epoch milliseconds of its clock). */
  readonly startedAt: number;
  /** The number of the last request, of any series of ids. */
  readonly lastNumber: number;
  /** Includes the steps that ran, so that the others keep their numbers. */
  readonly timeline: Timeline;
  readonly story: SavedStory;
  readonly isChangedByUser: boolean;
  /** The latest requests of the journal, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** How many requests the journal has recorded in total. */
  readonly total: number;
  /** The counts of the report. */
  readonly counts: Counts;
  /** The refs of the keys, in the scenario's order, then in order of creation. */
  readonly keys: readonly string[];
  readonly behavior: SavedBehavior;
}

/** How far the story is: as in `StoryProgress`, without its steps, which the scenario has. */
interface SavedStory {
  readonly next: number;
  readonly results: readonly (readonly [step: number, asExpected: boolean])[];
  readonly last: PlayedStep | undefined;
  readonly resumesAtEnd: boolean;
}

/** What advice depends on: as in `ClientBehavior`. */
interface SavedBehavior {
  readonly lastRejections: readonly (readonly [fingerprint: string, outcome: OutcomeId])[];
  readonly preflightOrigins: readonly string[];
  readonly keysThatWorked: readonly string[];
  readonly rotatedKeys: readonly string[];
}

/** The JSON of a sandbox as a `SavedSandbox`, in parts. */
export function saveSandbox(sandbox: SandboxState): Iterable<string> {
  // The wall clock is read first, so that the restored clock never lags behind.
  const at = sandbox.platform.time();
  const snapshot = snapshotInParts(sandbox, sandbox.clock.now());
  // `undefined` only keeps the place of the snapshot, whose parts are written there.
  const saved = { ...savedWithoutSnapshot(sandbox), at, snapshot: undefined };
  return jsonWithParts(saved, "snapshot", snapshot);
}

/** What the snapshot cannot say of a sandbox, because a scenario has no field for it. */
function savedWithoutSnapshot(sandbox: SandboxState): Omit<SavedSandbox, "at" | "snapshot"> {
  const { timeline, story, journal, behavior, registry } = sandbox;
  return {
    name: sandbox.name,
    text: sandbox.text,
    scenario: sandbox.scenario,
    startedAt: sandbox.startedAt,
    lastNumber: sandbox.requestIds.latestNumber(),
    timeline,
    story: {
      next: story.next,
      results: [...story.results],
      last: story.last,
      resumesAtEnd: story.resumesAtEnd,
    },
    isChangedByUser: sandbox.isChangedByUser,
    exchanges: journal.requests({ probes: true, limit: maxSaved }),
    total: journal.total(),
    counts: sandbox.counters.read(),
    keys: [...registry.keys.keys()],
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
 * saved clock has advanced meanwhile, unless it is frozen. The next series of request ids begins.
 */
export function restoreSandbox(saved: SavedSandbox, start: Start): SandboxState {
  // In this order: the snapshot starts a sandbox, what it cannot say replaces members of the new state, and then the clock catches up.
  const { name, text, scenario } = saved;
  // Read before the clock starts: from then on, the clock counts the time itself.
  const msSinceSaved = start.platform.time() - saved.at;
  const sandbox = createState({ ...start, scenario: saved.snapshot, name, text });

  // The latest requests may not be saved: no id of their series is given out again.
  const savedIds = new RequestIds(sandbox.seed, saved.lastNumber);
  const requestIds = savedIds.nextSeries(sandbox.seed, savedIds.countInSeries());

  // A reset starts the saved scenario again, and not the snapshot. The story and the timeline are those of the saved scenario, too.
  replaceState(sandbox, {
    scenario,
    startedAt: saved.startedAt,
    requestIds,
    story: restoredStory(saved),
    isChangedByUser: saved.isChangedByUser,
    timeline: { ...saved.timeline },
  });
  sandbox.registry.sort(saved.keys);
  restoreBehavior(sandbox.behavior, saved.behavior);
  sandbox.counters.restore(saved.counts);
  catchUp(sandbox.clock, msSinceSaved);
  sandbox.journal.replaceWith(saved.exchanges, saved.total);
  return sandbox;
}

function restoredStory({ scenario, story }: SavedSandbox): StoryProgress {
  const steps = scenario.story ?? [];
  return {
    steps,
    next: Math.min(story.next, steps.length),
    results: new Map(story.results),
    last: story.last,
    resumesAtEnd: story.resumesAtEnd,
  };
}

/** Advances a clock that runs by the time for which its sandbox did not. */
function catchUp(clock: VirtualClock, msSinceSaved: number): void {
  if (clock.isFrozen()) return;
  const duration = Math.min(msSinceSaved, lastClockInstant - clock.now());
  // The wall clock may have been set back.
  if (duration > 0) clock.advance(duration);
}

function restoreBehavior(behavior: ClientBehavior, saved: SavedBehavior): void {
  for (const [fingerprint, outcome] of saved.lastRejections) behavior.noteRejection(fingerprint, outcome);
  for (const origin of saved.preflightOrigins) behavior.notePreflight(origin);
  for (const ref of saved.keysThatWorked) behavior.keysThatWorked.add(ref);
  for (const ref of saved.rotatedKeys) behavior.rotatedKeys.add(ref);
}
