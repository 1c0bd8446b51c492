import { lastClockInstant } from "../rules/key-state.js";
import type { OutcomeId } from "../rules/outcomes.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { VirtualClock } from "./clock.js";
import type { ClientBehavior } from "./journal/client-behavior.js";
import type { Counts } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import { jsonWithParts } from "./json-with-parts.js";
import { RequestIds } from "./request-ids.js";
import { replaceState, type SandboxState, type Start } from "./sandbox-state.js";
import { snapshotOf, snapshotOrganizations } from "./snapshot.js";
import { createState } from "./start-sandbox.js";
import type { PlayedStep, StoryProgress } from "./step-results.js";
import { type Timeline, timelineFrom } from "./timeline.js";
import { UserChanges } from "./user-changes.js";

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
  readonly timeline: Pick<Timeline, "steps" | "next">;
  /** How many steps of the story ran, whether each was as expected, and the result of the last one. */
  readonly stepsRun: number;
  readonly results: readonly (readonly [step: number, asExpected: boolean])[];
  readonly lastStep: PlayedStep | undefined;
  /** Whether the clock was frozen before the story; `null` unless its steps hold it. */
  readonly wasFrozen: boolean | null;
  /** What users have changed since the start. */
  readonly changes: readonly (readonly [value: string, withoutUsers: string])[];
  /** The latest requests of the journal, oldest first. */
  readonly exchanges: readonly Exchange[];
  /** How many requests the journal has recorded in total. */
  readonly recorded: number;
  /** The counts of the report. */
  readonly counts: Counts;
  /** The refs of the keys, in the order of creation. */
  readonly keys: readonly string[];
  readonly clients: SavedClients;
}

/** What clients know, for advice. */
interface SavedClients {
  readonly rejected: readonly (readonly [fingerprint: string, outcome: OutcomeId])[];
  readonly pages: readonly string[];
  /** The refs of the keys that have worked. */
  readonly worked: readonly string[];
  /** The refs of the keys that were rotated while the sandbox ran: clients can have got their replacements. */
  readonly replaced: readonly string[];
}

/**
 * The JSON of a sandbox as a `SavedSandbox`, in parts: with 100,000 keys, its organizations would take as much memory as the
 * sandbox. `lastNumber`: the request number from which the restored one continues. Default: that of the latest request.
 */
export function saveSandbox(
  sandbox: SandboxState,
  lastNumber = sandbox.requestIds.latestNumber(),
): Iterable<string> {
  // The wall clock is read first, so that the restored clock never lags behind.
  const at = sandbox.platform.time();
  const now = sandbox.clock.now();

  const saved = savedAt(at, sandbox, snapshotOf(sandbox, now, {}), lastNumber);
  const organizations = jsonOfEntries(snapshotOrganizations(sandbox, now));
  const snapshot = jsonWithParts(saved.snapshot, "organizations", organizations);
  return jsonWithParts(saved, "snapshot", snapshot);
}

function savedAt(at: number, sandbox: SandboxState, snapshot: Scenario, lastNumber: number): SavedSandbox {
  const { timeline, story, journal, behavior, registry } = sandbox;
  return {
    at,
    name: sandbox.name,
    text: sandbox.text,
    scenario: sandbox.scenario,
    snapshot,
    startedAt: sandbox.startedAt,
    lastNumber,
    timeline: { steps: timeline.steps, next: timeline.next },
    stepsRun: story.next,
    changes: [...sandbox.changes.entries()],
    results: [...story.results],
    lastStep: story.last,
    wasFrozen: story.wasFrozen ?? null,
    exchanges: journal.requests({ probes: true, limit: maxSaved }),
    recorded: journal.total(),
    counts: sandbox.counters.read(),
    keys: [...registry.keys.keys()],
    clients: {
      rejected: [...behavior.rejected],
      pages: [...behavior.pages],
      worked: [...behavior.workedKeys],
      replaced: [...behavior.rotatedKeys],
    },
  };
}

/**
 * Continues a saved sandbox in place of the scenario of a start, whose options are then only for scenarios that start later. The
 * saved clock has advanced meanwhile, unless it is frozen.
 */
export function restoreSandbox(saved: SavedSandbox, start: Start): SandboxState {
  const { name, text, scenario } = saved;
  // Read before the clock starts, which counts the time from then on itself.
  const msSinceSaved = start.platform.time() - saved.at;
  const sandbox = createState({ ...start, scenario: saved.snapshot, name, text });

  // The rest of the state is of the saved scenario, which a reset starts again, and not of the snapshot.
  replaceState(sandbox, {
    scenario,
    startedAt: saved.startedAt,
    requestIds: new RequestIds(sandbox.seed, saved.lastNumber),
    story: restoredStory(saved),
    changes: new UserChanges(saved.changes),
    timeline: timelineFrom(saved.timeline.steps, saved.timeline.next),
  });
  sandbox.registry.sort(saved.keys);
  restoreBehavior(sandbox.behavior, saved.clients);
  sandbox.counters.restore(saved.counts);
  catchUp(sandbox.clock, msSinceSaved);
  sandbox.journal.replaceWith(saved.exchanges, saved.recorded);
  return sandbox;
}

function restoredStory({ scenario, stepsRun, results, lastStep, wasFrozen }: SavedSandbox): StoryProgress {
  const steps = scenario.story ?? [];
  return {
    steps,
    next: Math.min(stepsRun, steps.length),
    results: new Map(results),
    last: lastStep,
    wasFrozen: wasFrozen ?? undefined,
  };
}

/** Advances a clock that runs by the time for which its sandbox did not. */
function catchUp(clock: VirtualClock, msSinceSaved: number): void {
  if (clock.isFrozen()) return;
  const duration = Math.min(msSinceSaved, lastClockInstant - clock.now());
  // The wall clock may have been set back.
  if (duration > 0) clock.advance(duration);
}

function restoreBehavior(behavior: ClientBehavior, clients: SavedClients): void {
  for (const [fingerprint, outcome] of clients.rejected) behavior.rejected.set(fingerprint, outcome);
  for (const page of clients.pages) behavior.pages.add(page);
  for (const ref of clients.worked) behavior.workedKeys.add(ref);
  for (const ref of clients.replaced) behavior.rotatedKeys.add(ref);
}

/** The JSON of a mapping, with a part for each of its members. */
function* jsonOfEntries(members: Iterable<readonly [name: string, value: object]>): Generator<string> {
  let before = "{";
  for (const [name, value] of members) {
    yield `${before}${JSON.stringify(name)}:${JSON.stringify(value)}`;
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}
