import { keyEndFields, keyStateAt, keyStateTable, lastClockInstant, mapKeyEnds } from "../rules/api-key.js";
import type { Organization } from "../rules/organization.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import type { Writable } from "../rules/writable.js";
import {
  type KeyFields,
  populatedKeyAt,
  type ScenarioOrganization,
  writtenKeys,
} from "../scenario/described-keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { jsonOfEntries, jsonWithParts } from "../schema/json.js";
import { writtenFaults } from "./active-faults.js";
import type { Counts } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import type { KeyEntry } from "./registry.js";
import { replaceState, type SandboxState, type Start } from "./sandbox-state.js";
import { sandboxAtStart } from "./start-sandbox.js";
import { type PlayedStep, remainingSteps, type StoryProgress, type Timeline } from "./step-results.js";
import { usageAt } from "./usage.js";
import { withoutGrantedScopes, withoutNameSuffix } from "./varied-records.js";

/** How many of the latest requests of the journal are saved. */
const maxSaved = 100;

/**
 * A sandbox as plain data, without its options: everything that a client or a person can see, and what clients know.
 * `restoreSandbox` starts its `snapshot`, then sets the other members, which a scenario cannot say or a start changes.
 */
export interface SavedSandbox {
  /** When it was saved, on the platform's wall clock (epoch milliseconds). */
  readonly at: number;
  readonly name: string;
  /** The YAML of its scenario. */
  readonly text: string | undefined;
  /** The scenario that a reset starts again. */
  readonly scenario: Scenario;
  /** The state as a scenario. Its `requests_responded` includes the series, so that no request id repeats. */
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
  /** The refs of the keys whose replacement clients can know. */
  readonly replaced: readonly string[];
}

/** `responded` is the number of the last request id that its continuation must not use again. Default: the last one used. */
export function saveSandbox(
  sandbox: SandboxState,
  responded = sandbox.requestIds.latestNumber(),
): SavedSandbox {
  const organizations = Object.fromEntries(snapshotOrganizations(sandbox));
  const saved = saveWithoutOrganizations(sandbox, responded);
  return { ...saved, snapshot: { ...saved.snapshot, organizations } };
}

/** A saved sandbox as JSON, in parts: with 100,000 keys, its objects would take as much memory as the sandbox. */
export function saveInParts(sandbox: SandboxState, responded: number): Iterable<string> {
  const saved = saveWithoutOrganizations(sandbox, responded);
  const organizations = jsonOfEntries(snapshotOrganizations(sandbox));
  return jsonWithParts(saved, "snapshot", jsonWithParts(saved.snapshot, "organizations", organizations));
}

/** A saved sandbox whose snapshot has no organizations yet. */
function saveWithoutOrganizations(sandbox: SandboxState, responded: number): SavedSandbox {
  const { timeline, story, journal, behavior, registry } = sandbox;
  const worked: string[] = [];
  const replaced: string[] = [];
  for (const { key, hasWorked, replacement } of registry.keys.values()) {
    if (hasWorked) worked.push(key.ref);
    if (replacement !== undefined) replaced.push(key.ref);
  }

  // Read before the clock, so that a restored clock is never late.
  const at = sandbox.platform.time();
  const snapshot = snapshotWithoutOrganizations(sandbox);
  return {
    at,
    name: sandbox.name,
    text: sandbox.text,
    scenario: sandbox.scenario,
    snapshot: { ...snapshot, requests_responded: responded },
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
 * Continues a saved sandbox in place of the one that would start. Its clock has advanced meanwhile, unless it is frozen. The options
 * of the start are only for scenarios that start later.
 */
export function restoreSandbox(saved: SavedSandbox, start: Start): SandboxState {
  const { name, text, scenario } = saved;
  const sandbox = sandboxAtStart({ ...start, scenario: saved.snapshot, name, text });

  // What the start of the snapshot cannot know. The scenario is what a reset starts again, in place of the snapshot.
  const steps = scenario.story ?? [];
  const story: StoryProgress = {
    steps,
    next: Math.min(saved.stepsRun, steps.length),
    results: new Map(saved.results),
    last: saved.lastStep,
    wasFrozen: saved.wasFrozen ?? undefined,
  };
  replaceState(sandbox, {
    scenario,
    story,
    changes: new Map(saved.changes),
    timeline: { ...sandbox.timeline, ...saved.timeline },
  });
  sandbox.registry.sort(saved.keys);
  restoreClients(sandbox, saved.clients);
  sandbox.counters.restore(saved.counts);

  // The clock went on while the sandbox did not run.
  const { clock } = sandbox;
  const elapsed = Math.min(sandbox.platform.time() - saved.at, lastClockInstant - clock.now());
  if (!clock.isFrozen() && elapsed > 0) clock.advance(elapsed);

  sandbox.journal.replaceWith(saved.exchanges, saved.recorded);
  return sandbox;
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

/** The state as a scenario: a sandbox that starts from it behaves the same. It has hashes of run-time keys (R35), and no story. */
export function snapshotSandbox(sandbox: SandboxState): Scenario {
  const organizations = Object.fromEntries(snapshotOrganizations(sandbox));
  return { ...snapshotWithoutOrganizations(sandbox), organizations };
}

/** A snapshot whose organizations are empty. */
function snapshotWithoutOrganizations(sandbox: SandboxState): Scenario {
  const { clock } = sandbox;
  const now = clock.now();

  // A story starts with its own scenario, and of the timeline, only the steps that are left.
  const { story, timeline, ...scenario } = sandbox.scenario;
  // Only explicit assumptions: the others may vary with the profile.
  const assumptions = { ...sandbox.ownAssumptions, profile: sandbox.profile } as ScenarioAssumptions;
  // A scenario that never had faults needs no empty list.
  const faults = writtenFaults(sandbox.faults);
  const hasHadFaults = faults.length > 0 || scenario.faults !== undefined;

  const snapshot: Scenario = {
    ...scenario,
    seed: sandbox.seed,
    requests_responded: sandbox.requestIds.countInSeries(),
    clock: { now: isoTime(now), frozen: clock.isFrozen() },
    assumptions: structuredClone(assumptions),
    ...(hasHadFaults && { faults }),
    organizations: {},
    population: snapshotPopulation(sandbox),
  };

  const steps = remainingSteps(sandbox.timeline);
  if (steps.length > 0) snapshot.timeline = steps;
  return snapshot;
}

type ScenarioAssumptions = NonNullable<Scenario["assumptions"]>;
type OrganizationWithKeys = ScenarioOrganization & { readonly keys: Readonly<Record<string, KeyFields>> };

/** Each organization with its keys, also those of the population, by its ref. */
function* snapshotOrganizations(
  sandbox: SandboxState,
): Generator<[ref: string, organization: OrganizationWithKeys]> {
  const { registry, scenario } = sandbox;
  const now = sandbox.clock.now();
  const written = new Map<string, KeyFields>();
  for (const { ref, fields } of writtenKeys(scenario)) written.set(ref, fields);

  for (const { organization, keys } of registry.organizations.values()) {
    const fieldsOfKeys: [ref: string, fields: KeyFields][] = [];
    for (const entry of keys) {
      const { ref } = entry.key;
      const described = written.get(ref) ?? populatedKeyAt(ref, scenario)?.fields;
      fieldsOfKeys.push([ref, snapshotKey(entry, described, sandbox, now)]);
    }
    const fields = snapshotOrganization(withoutNameSuffix(sandbox, organization));
    yield [organization.ref, { ...fields, keys: Object.fromEntries(fieldsOfKeys) }];
  }
}

/** The farmers, which stay the same although the clock starts later. */
function snapshotPopulation({ scenario, farmers }: SandboxState): NonNullable<Scenario["population"]> {
  const { organizations, keys_per_organization, ...settings } = scenario.population ?? {};
  return { ...settings, as_of: isoTime(farmers.start) };
}

function snapshotOrganization(organization: Organization): ScenarioOrganization {
  const { name, id, type, status, sandboxAccess, liveAccess } = organization;
  return {
    name,
    id,
    type,
    status,
    sandbox_access: sandboxAccess,
    live_access: liveAccess,
  } satisfies Required<Omit<ScenarioOrganization, "keys">>;
}

/** A key's state as a scenario writes it. `described` is how the scenario has it; `undefined` for a key created at run time. */
function snapshotKey(
  entry: KeyEntry,
  described: KeyFields | undefined,
  sandbox: SandboxState,
  now: number,
): KeyFields {
  const { key } = entry;
  const fields: Writable<KeyFields> = {
    environment: key.environment,
    name: key.name,
    scopes: [...withoutGrantedScopes(sandbox, key.scopes)],
    limits: { per_minute: key.limits.perMinute, per_day: key.limits.perDay },
    legacy: key.legacy,
  };

  const state = keyStateAt(key, now);
  const { since } = keyStateTable[state];
  mapKeyEnds((end) => {
    const at = key[end];
    if (at === undefined) return;
    // A state that begins when the clock of the snapshot starts needs no time.
    const beginsAtStart = end === since && at === now;
    if (!beginsAtStart) fields[keyEndFields[end]] = isoTime(at);
  });
  if (key.createdAt !== undefined) fields.created_at = isoTime(key.createdAt);
  // With it, the replacement knows which key it replaces.
  if (key.replacedBy !== undefined) fields.replaced_by = key.replacedBy;

  // A pinned secret stays pinned, and the seed restores a derived one; a key that was created at run time has only a hash.
  if (described === undefined) fields.sha256 = key.sha256;
  else if (described.secret !== undefined) fields.secret = described.secret;
  else if (described.sha256 !== undefined) fields.sha256 = described.sha256;

  if (state !== "active") fields.state = state;
  fields.usage = snapshotUsage(entry, sandbox, now);
  return fields;
}

function snapshotUsage(
  entry: KeyEntry,
  { windows }: SandboxState,
  now: number,
): NonNullable<KeyFields["usage"]> {
  const { minuteCount, dayCount, recent } = usageAt(entry.usage, windows, now);
  const counts = { this_minute: minuteCount, today: dayCount };
  return windows.sliding ? { ...counts, counted_at: recent.map(isoTime) } : counts;
}
