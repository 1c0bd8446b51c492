import {
  forEachEnd,
  type KeyEnds,
  type KeyRecord,
  keyEnds,
  keyStateAt,
  keyStateTable,
  lastClockInstant,
} from "../rules/api-key.js";
import type { Organization } from "../rules/organization.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { isoOf } from "../rules/time.js";
import { describedKeys, type ScenarioKey, type ScenarioOrganization } from "../scenario/described-keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { writtenFaults } from "./active-faults.js";
import type { Counts } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import type { KeyEntry } from "./registry.js";
import { numberInSeries } from "./request-ids.js";
import { type Platform, replaceState, type SandboxState } from "./sandbox-state.js";
import { type SandboxSettings, startSandbox } from "./start-sandbox.js";
import { type PlayedStep, remainingSteps, type StoryProgress, type Timeline } from "./step-results.js";
import { usageAt } from "./usage.js";
import { withoutGrantedScopes, withoutNameSuffix } from "./varied-records.js";

/** A sandbox as plain data, without its options: everything that a client or a person can see, and what clients know. */
export interface SavedSandbox {
  /** When it was saved, on the platform's wall clock (epoch milliseconds). */
  readonly at: number;
  readonly name: string;
  readonly text: string | undefined;
  readonly scenario: Scenario;
  /** The state as a scenario; `requests_responded` includes the series, so that no request id repeats. */
  readonly snapshot: Scenario;
  /** Includes the steps that ran, so that the others keep their numbers. */
  readonly timeline: Pick<Timeline, "steps" | "next">;
  readonly stepsRun: number;
  readonly changes: readonly (readonly [value: string, withoutUsers: string])[];
  readonly results: readonly (readonly [step: number, asExpected: boolean])[];
  readonly lastStep: PlayedStep | undefined;
  /** Whether the clock was frozen before the story; `null` unless its steps hold it. */
  readonly wasFrozen: boolean | null;
  readonly exchanges: readonly Exchange[];
  readonly recorded: number;
  readonly counts: Counts;
  /** The refs of the keys, in the order of creation. */
  readonly keys: readonly string[];
  /** What clients know, for advice: keys that worked or were replaced by their refs. */
  readonly clients: Readonly<Record<"pages" | "worked" | "replaced", readonly string[]>> & {
    readonly rejected: readonly (readonly [fingerprint: string, outcome: OutcomeId])[];
  };
}

/** The requests of the journal that are saved. */
const maxSaved = 100;

/** `responded` is the number of the last request id that its continuation must not use again. Default: the last one used. */
export function saveSandbox(sandbox: SandboxState, responded = sandbox.requestIds.responded()): SavedSandbox {
  const { name, text, scenario, timeline, story, journal, behavior, registry } = sandbox;
  const refs = (isMeant: (entry: KeyEntry) => boolean) =>
    [...registry.keys.values()].filter(isMeant).map(({ key }) => key.ref);
  // Read before the clock, so that a restored clock is never late.
  const at = sandbox.platform.time();
  return {
    at,
    name,
    text,
    scenario,
    snapshot: { ...snapshotSandbox(sandbox), requests_responded: responded },
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
    clients: {
      rejected: [...behavior.rejected],
      pages: [...behavior.pages],
      worked: refs((one) => one.hasWorked === true),
      replaced: refs((one) => one.replacement !== undefined),
    },
  };
}

/** Continues what `saveSandbox` returned in a new sandbox; its clock advances unless it is frozen. */
export function restoreSandbox(
  state: SavedSandbox,
  platform: Platform,
  options: Omit<SandboxSettings, "platform">,
): SandboxState {
  const { name, text, scenario, snapshot, stepsRun, results, counts } = state;
  const sandbox = startSandbox(snapshot, { platform, name, text, ...options });
  const { story: steps = [] } = scenario;
  const next = Math.min(stepsRun, steps.length);
  const story: StoryProgress = {
    steps,
    next,
    results: new Map(results),
    last: state.lastStep,
    wasFrozen: state.wasFrozen ?? undefined,
  };
  replaceState(sandbox, {
    scenario,
    story,
    changes: new Map(state.changes),
    timeline: { ...sandbox.timeline, ...state.timeline },
  });
  const { clock } = sandbox;
  sandbox.registry.sort(state.keys);
  restoreClients(sandbox, state.clients);
  sandbox.counters.restore(counts);
  const elapsed = Math.min(platform.time() - state.at, lastClockInstant - clock.now());
  if (!clock.isFrozen() && elapsed > 0) clock.advance(elapsed);
  sandbox.journal.enter(state.exchanges, state.recorded);
  return sandbox;
}

function restoreClients({ behavior, registry }: SandboxState, clients: SavedSandbox["clients"]): void {
  for (const [fingerprint, outcome] of clients.rejected) behavior.rejected.set(fingerprint, outcome);
  for (const page of clients.pages) behavior.pages.add(page);
  for (const ref of clients.worked) registry.key(ref).hasWorked = true;
  for (const ref of clients.replaced) {
    const entry = registry.key(ref);
    if (entry.key.replacedBy !== undefined) entry.replacement = registry.key(entry.key.replacedBy);
  }
}

/** A sandbox that starts from it behaves the same. It has hashes of run-time keys (R35), and no story. */
export function snapshotSandbox(sandbox: SandboxState): Scenario {
  const { clock, registry } = sandbox;
  const now = clock.now();
  // A story starts with its own scenario; the timeline contains only the remaining steps.
  const { story: _story, timeline: _timeline, ...scenario } = sandbox.scenario;
  const timeline = remainingSteps(sandbox.timeline);
  const faults = writtenFaults(sandbox.faults);
  const { organizations: _, keys_per_organization: __, ...farmers } = scenario.population ?? {};
  const described = new Map(Array.from(describedKeys(sandbox.scenario), (one) => [one.ref, one.fields]));
  const organizations: Record<string, ScenarioOrganization & { keys: Record<string, ScenarioKey> }> = {};
  for (const { organization } of registry.organizations.values()) {
    const fields = snapshotOrganization(withoutNameSuffix(sandbox, organization));
    organizations[organization.ref] = { ...fields, keys: {} };
  }
  for (const entry of registry.keys.values()) {
    const { ref, organization } = entry.key;
    const { keys } = organizations[organization] as { keys: Record<string, ScenarioKey> };
    keys[ref] = snapshotKey(entry, described.get(ref), sandbox, now);
  }
  return {
    ...scenario,
    seed: sandbox.seed,
    requests_responded: numberInSeries(sandbox.requestIds.responded()),
    clock: { now: isoOf(now), frozen: clock.isFrozen() },
    // Only explicit assumptions: the others may vary with the profile.
    assumptions: structuredClone({
      ...sandbox.ownAssumptions,
      profile: sandbox.profile,
    } as NonNullable<Scenario["assumptions"]>),
    // A scenario that never had faults needs no empty list.
    ...((faults.length > 0 || scenario.faults !== undefined) && { faults }),
    organizations,
    // The organizations are listed above. The farmers stay the same although the clock starts later.
    population: { ...farmers, as_of: isoOf(sandbox.farmers.start) },
    ...(timeline.length > 0 && { timeline }),
  };
}

function snapshotOrganization(organization: Organization): ScenarioOrganization {
  const { id, name, type, status, sandboxAccess, liveAccess } = organization;
  const fieldsOf: Readonly<Record<Exclude<keyof Organization, "ref">, Partial<ScenarioOrganization>>> = {
    name: { name },
    id: { id },
    type: { type },
    status: { status },
    sandboxAccess: { sandbox_access: sandboxAccess },
    liveAccess: { live_access: liveAccess },
  };
  return Object.assign({}, ...Object.values(fieldsOf));
}

/** The members of a record that no snapshot writes: two are the key's place, and the key that it replaces has the third. */
type DerivedMember = "ref" | "organization" | "replaces";
type WrittenMembers = Readonly<Record<Exclude<keyof KeyRecord, DerivedMember>, WrittenFields>>;
/** The fields of a key in a scenario; `undefined` for those that it does not need. */
type WrittenFields = { readonly [Name in keyof ScenarioKey]?: ScenarioKey[Name] | undefined };

function snapshotKey(
  { key, ...entry }: KeyEntry,
  described: ScenarioKey | undefined,
  sandbox: SandboxState,
  now: number,
): ScenarioKey {
  const { windows } = sandbox;
  const usage = usageAt(entry.usage, windows, now);
  const state = keyStateAt(key, now);
  // A pinned secret stays pinned and the seed restores a derived one; keys created at run time have only a hash.
  const { secret, sha256 }: Pick<ScenarioKey, "secret" | "sha256"> = described ?? { sha256: key.sha256 };
  const fieldsOf: WrittenMembers = {
    environment: { environment: key.environment },
    name: { name: key.name },
    scopes: { scopes: [...withoutGrantedScopes(sandbox, key.scopes)] },
    limits: { limits: { per_minute: key.limits.perMinute, per_day: key.limits.perDay } },
    legacy: { legacy: key.legacy },
    ...writtenEnds(key, now),
    replacedBy: { replaced_by: key.replacedBy },
    sha256: secret === undefined ? { sha256 } : { secret },
  };
  const fields: WrittenFields = {
    ...Object.assign({}, ...Object.values(fieldsOf)),
    state: state === "active" ? undefined : state,
    usage: {
      this_minute: usage.minuteCount,
      today: usage.dayCount,
      ...(windows.sliding && { counted_at: usage.recent.map(isoOf) }),
    },
  };
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Partial<ScenarioKey> as ScenarioKey;
}

/** The times that end a key, by their names in scenarios. The start of the clock is the default. */
function writtenEnds(key: KeyEnds, now: number): Readonly<Record<keyof KeyEnds, WrittenFields>> {
  const { since } = keyStateTable[keyStateAt(key, now)];
  return forEachEnd((end) => {
    const isDefault = key[end] === undefined || (end === since && key[end] === now);
    return isDefault ? {} : { [keyEnds[end]]: isoOf(key[end] ?? now) };
  });
}
