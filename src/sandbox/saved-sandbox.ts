import { lastClockInstant } from "../rules/key-state.js";
import type { OutcomeId } from "../rules/outcomes.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { Counts } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import { jsonWithParts } from "./json-with-parts.js";
import { replaceState, type SandboxState, type Start } from "./sandbox-state.js";
import { snapshotOrganizations, snapshotWithoutOrganizations } from "./snapshot.js";
import { createState } from "./start-sandbox.js";
import type { PlayedStep, StoryProgress } from "./step-results.js";
import { type Timeline, timelineFrom } from "./timeline.js";

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
  /** The state as a scenario. Its `requests_responded` is the number of the last request, also of a later series of ids. */
  readonly snapshot: Scenario;
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

/** Saves a sandbox. `lastNumber`: the request number from which the restored one continues. Default: that of the latest request. */
export function saveSandbox(
  sandbox: SandboxState,
  lastNumber = sandbox.requestIds.latestNumber(),
): SavedSandbox {
  const organizations = Object.fromEntries(snapshotOrganizations(sandbox));
  const saved = saveWithoutOrganizations(sandbox, lastNumber);
  return { ...saved, snapshot: { ...saved.snapshot, organizations } };
}

/** The JSON of a saved sandbox, in parts: with 100,000 keys, its organizations would take as much memory as the sandbox. */
export function saveInParts(sandbox: SandboxState, lastNumber: number): Iterable<string> {
  const saved = saveWithoutOrganizations(sandbox, lastNumber);
  const organizations = jsonOfEntries(snapshotOrganizations(sandbox));
  const snapshot = jsonWithParts(saved.snapshot, "organizations", organizations);
  return jsonWithParts(saved, "snapshot", snapshot);
}

/** A saved sandbox with an empty mapping in the place of its snapshot's organizations. */
function saveWithoutOrganizations(sandbox: SandboxState, lastNumber: number): SavedSandbox {
  const { timeline, story, journal, behavior, registry } = sandbox;
  const worked: string[] = [];
  const replaced: string[] = [];
  for (const { key, hasWorked, replacement } of registry.keys.values()) {
    if (hasWorked) worked.push(key.ref);
    if (replacement !== undefined) replaced.push(key.ref);
  }

  // Read before the sandbox's clock, so that the restored one never lags behind.
  const at = sandbox.platform.time();
  const snapshot = snapshotWithoutOrganizations(sandbox);
  return {
    at,
    name: sandbox.name,
    text: sandbox.text,
    scenario: sandbox.scenario,
    snapshot: { ...snapshot, requests_responded: lastNumber },
    timeline: { steps: timeline.steps, next: timeline.next },
    stepsRun: story.next,
    changes: [...sandbox.changes],
    results: [...story.results],
    lastStep: story.last,
    wasFrozen: story.wasFrozen ?? null,
    exchanges: journal.requests({ probes: true, limit: maxSaved }),
    recorded: journal.total(),
    counts: sandbox.counters.read(),
    keys: [...registry.keys.keys()],
    clients: { rejected: [...behavior.rejected], pages: [...behavior.pages], worked, replaced },
  };
}

/**
 * Continues a saved sandbox in place of the scenario of a start, whose options are then only for scenarios that start later. The
 * saved clock has advanced meanwhile, unless it is frozen.
 */
export function restoreSandbox(saved: SavedSandbox, start: Start): SandboxState {
  const { name, text, scenario } = saved;
  const sandbox = createState({ ...start, scenario: saved.snapshot, name, text });

  // The rest of the state is of the saved scenario, which a reset starts again, and not of the snapshot.
  replaceState(sandbox, {
    scenario,
    story: restoredStory(saved),
    changes: new Map(saved.changes),
    timeline: timelineFrom(saved.timeline.steps, saved.timeline.next),
  });
  sandbox.registry.sort(saved.keys);
  restoreClients(sandbox, saved.clients);
  sandbox.counters.restore(saved.counts);
  catchUp(sandbox, saved.at);
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

/** Advances a clock that runs by the time since its sandbox was saved (epoch milliseconds of the wall clock). */
function catchUp({ clock, platform }: SandboxState, savedAt: number): void {
  const elapsed = Math.min(platform.time() - savedAt, lastClockInstant - clock.now());
  if (!clock.isFrozen() && elapsed > 0) clock.advance(elapsed);
}

function restoreClients({ behavior, registry }: SandboxState, clients: SavedClients): void {
  for (const [fingerprint, outcome] of clients.rejected) behavior.rejected.set(fingerprint, outcome);
  for (const page of clients.pages) behavior.pages.add(page);
  for (const ref of clients.worked) registry.key(ref).hasWorked = true;
  for (const ref of clients.replaced) {
    const entry = registry.key(ref);
    if (entry.key.replacedBy !== undefined) entry.replacement = registry.key(entry.key.replacedBy);
  }
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
