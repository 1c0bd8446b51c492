import type { KeyRecord } from "../rules/key-state.js";
import { type KeyEnds, keyStateAt, keyStateTable } from "../rules/key-state.js";
import type { Organization } from "../rules/organization.js";
import { isoTime } from "../rules/time.js";
import type { Writable } from "../rules/writable.js";
import { type KeyFields, listedKeys, populatedKeyAt, type ScenarioOrganization } from "../scenario/keys.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { writtenFaults } from "./faults.js";
import type { KeyEntry } from "./registry.js";
import type { SandboxState } from "./sandbox-state.js";
import { usageAt } from "./usage.js";

/** The times that end a key, each with its field in scenarios. */
const endFields = [
  { end: "revokedAt", field: "revoked_at" },
  { end: "expiresAt", field: "expires" },
  { end: "overlapEndsAt", field: "overlap_ends" },
] as const satisfies readonly { readonly end: keyof KeyEnds; readonly field: keyof KeyFields }[];

/** The state as a scenario: a sandbox that starts from it behaves the same. It has hashes of run-time keys (R35), and no story. */
export function snapshotSandbox(sandbox: SandboxState): Scenario {
  const now = sandbox.clock.now();
  // A story starts with its own scenario, and of the timeline, only the steps that are left.
  const { story, timeline, ...scenario } = sandbox.scenario;
  // Only explicit assumptions: the others may vary with the profile.
  const explicit = { ...sandbox.ownAssumptions, profile: sandbox.profile };
  const assumptions = structuredClone(explicit) as NonNullable<Scenario["assumptions"]>; // a copy of what readers may not change
  // An empty list is written only if it replaces a list of the scenario.
  const faults = writtenFaults(sandbox.faults);
  const hasFaultsToWrite = faults.length > 0 || scenario.faults !== undefined;

  const { organizations, keys_per_organization, ...population } = scenario.population ?? {};
  const snapshot: Scenario = {
    ...scenario,
    seed: sandbox.seed,
    requests_responded: sandbox.requestIds.count(),
    clock: { now: isoTime(now), frozen: sandbox.clock.isFrozen() },
    assumptions,
    ...(hasFaultsToWrite && { faults }),
    organizations: snapshotOrganizations(sandbox, now),
    // Its organizations and keys are written as records. The farmers stay the same, although the clock starts later.
    population: { ...population, as_of: isoTime(sandbox.farmers.start) },
  };

  // The steps that are left, with absolute times, so that a later start does not shift them. One may be due since a moment ago.
  const { steps, next } = sandbox.timeline;
  const left = steps.slice(next).map(({ step, at }) => ({ ...step, at: isoTime(Math.max(at, now)) }));
  if (left.length > 0) snapshot.timeline = left;
  return snapshot;
}

/** Each organization with its keys at `now`, also those of the population, by its ref. */
function snapshotOrganizations(sandbox: SandboxState, now: number): Record<string, ScenarioOrganization> {
  const { registry, scenario } = sandbox;
  const listed = new Map<string, KeyFields>();
  for (const { ref, fields } of listedKeys(scenario)) listed.set(ref, fields);

  const organizations: Record<string, ScenarioOrganization> = {};
  for (const { organization, keys } of registry.organizations.values()) {
    const fieldsOfKeys: Record<string, KeyFields> = {};
    for (const entry of keys) {
      const { ref } = entry.key;
      const startFields = listed.get(ref) ?? populatedKeyAt(ref, scenario)?.fields;
      fieldsOfKeys[ref] = snapshotKey(entry, startFields, sandbox, now);
    }
    organizations[organization.ref] = { ...snapshotOrganization(organization), keys: fieldsOfKeys };
  }
  return organizations;
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

/**
 * A key as a scenario writes it. `startFields`: as the sandbox's own scenario, with which it started, writes the key; `undefined` for a
 * key that was created at run time.
 */
function snapshotKey(
  entry: KeyEntry,
  startFields: KeyFields | undefined,
  sandbox: SandboxState,
  now: number,
): KeyFields {
  const { key } = entry;
  const fields: Writable<KeyFields> = {
    environment: key.environment,
    name: key.name,
    scopes: [...key.scopes],
    limits: { per_minute: key.limits.perMinute, per_day: key.limits.perDay },
    legacy: key.legacy,
  };

  Object.assign(fields, writtenEnds(key, now));
  if (key.createdAt !== undefined) fields.created_at = isoTime(key.createdAt);
  // From this, a start also learns which key the replacement replaces.
  if (key.replacedBy !== undefined) fields.replaced_by = key.replacedBy;

  // What the scenario pins: a secret or a hash, or neither, since the seed derives the secret. A key of run time has only its hash.
  if (startFields === undefined) fields.sha256 = key.sha256;
  else if (startFields.secret !== undefined) fields.secret = startFields.secret;
  else if (startFields.sha256 !== undefined) fields.sha256 = startFields.sha256;

  const state = keyStateAt(key, now);
  if (state !== "active") fields.state = state;
  fields.usage = snapshotUsage(entry, sandbox, now);
  return fields;
}

/**
 * The ends of a key, as a scenario writes them beside `state`. The end of the current state is left out if it is now: the snapshot
 * starts then, and `state: revoked` alone begins at the start of the clock.
 */
function writtenEnds(key: KeyRecord, now: number): Partial<KeyFields> {
  // `revokedAt` for a revoked key, for example; `null` while the key works.
  const { endField: endOfState } = keyStateTable[keyStateAt(key, now)];
  const ends: Partial<Writable<KeyFields>> = {};
  for (const { end, field } of endFields) {
    const at = key[end];
    if (at === undefined) continue;
    const isEndOfStateNow = end === endOfState && at === now;
    if (isEndOfStateNow) continue;
    ends[field] = isoTime(at);
  }
  return ends;
}

function snapshotUsage(
  entry: KeyEntry,
  { windows }: SandboxState,
  now: number,
): NonNullable<KeyFields["usage"]> {
  const { minuteCount, dayCount, counted } = usageAt(entry.usage, windows, now);
  const counts = { this_minute: minuteCount, today: dayCount };
  if (!windows.sliding) return counts;
  return { ...counts, counted_at: counted.map(({ at, count }) => ({ at: isoTime(at), count })) };
}
