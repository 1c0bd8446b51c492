import { type KeyEnds, keyStateAt, keyStateTable } from "../rules/api-key.js";
import { writeMembers } from "../rules/organization.js";
import { numberInSeries } from "../rules/seed.js";
import { describedKeys, type ScenarioKey, type ScenarioOrganization } from "../scenario/population.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { isoOf } from "./clock.js";
import { describeFaults } from "./faults.js";
import { type KeyEntry, usageAt } from "./keys.js";
import { describeRecords } from "./records/records.js";
import type { SandboxState } from "./sandbox.js";
import { remainingSteps } from "./timeline.js";
import { nameSuffixOf, withoutGrantedScopes } from "./varied-records.js";

/** A sandbox that starts from it behaves the same. It has hashes of run-time keys (R35), and no story. */
export function snapshotSandbox(sandbox: SandboxState, now = sandbox.clock.now()): Scenario {
  const { clock, registry } = sandbox;
  // A story starts with its own scenario; the timeline contains only the remaining steps.
  const { story: _story, timeline: _timeline, ...scenario } = sandbox.scenario;
  const timeline = remainingSteps(sandbox.timeline);
  const faults = describeFaults(sandbox.faults);
  const { organizations: _, keys_per_organization: __, ...farmers } = scenario.population ?? {};
  const given = new Map(Array.from(describedKeys(sandbox.scenario), (one) => [one.ref, one.given]));
  const organizations: Record<
    string,
    Required<ScenarioOrganization> & { keys: Record<string, ScenarioKey> }
  > = {};
  for (const { organization } of registry.organizations.values()) {
    const { ref, id } = organization;
    const name = organization.name.slice(0, organization.name.length - nameSuffixOf(sandbox, ref).length);
    organizations[ref] = { name, id, ...writeMembers(organization), keys: {} };
  }
  for (const entry of registry.keys.values()) {
    const { ref, organization } = entry.key;
    const { keys } = organizations[organization] as { keys: Record<string, ScenarioKey> };
    keys[ref] = snapshotKey(entry, given.get(ref), sandbox, now);
  }
  return {
    ...scenario,
    seed: sandbox.seed,
    requests_responded: numberInSeries(sandbox.requestIds.responded()),
    clock: { now: isoOf(now), frozen: clock.isFrozen() },
    // Only explicit assumptions: the others may vary with the profile.
    assumptions: structuredClone({
      ...sandbox.givenAssumptions,
      profile: sandbox.profile,
    } as NonNullable<Scenario["assumptions"]>),
    // A scenario that never had faults needs no empty list.
    ...((faults.length > 0 || scenario.faults !== undefined) && { faults }),
    ...describeRecords(sandbox),
    organizations,
    // The organizations are listed above. The farmers stay the same although the clock starts later.
    population: { ...farmers, as_of: isoOf(sandbox.farmers.start) },
    ...(timeline.length > 0 && { timeline }),
  };
}

function snapshotKey(
  { key, ...entry }: KeyEntry,
  given: ScenarioKey | undefined,
  sandbox: SandboxState,
  now: number,
): ScenarioKey {
  const { windows } = sandbox;
  const usage = usageAt(entry.usage, windows, now);
  const state = keyStateAt(key, now);
  const { since } = keyStateTable[state];
  // A pinned secret stays pinned and the seed restores a derived one; keys created at run time have only a hash.
  const { secret, sha256 }: Pick<ScenarioKey, "secret" | "sha256"> = given ?? { sha256: key.sha256 };
  // The start of the clock is the default.
  const timeOf = (name: keyof KeyEnds) =>
    key[name] === undefined || (name === since && key[name] === now) ? undefined : isoOf(key[name]);
  const written: Record<keyof ScenarioKey, unknown> = {
    environment: key.environment,
    name: key.name,
    scopes: [...withoutGrantedScopes(sandbox, key.scopes)],
    limits: { per_minute: key.limits.perMinute, per_day: key.limits.perDay },
    usage: {
      this_minute: usage.minuteCount,
      today: usage.dayCount,
      ...(windows.sliding && { counted_at: usage.recent.map(isoOf) }),
    },
    legacy: key.legacy,
    state: state === "active" ? undefined : state,
    revoked_at: timeOf("revokedAt"),
    expires: timeOf("expiresAt"),
    overlap_ends: timeOf("overlapEndsAt"),
    replaced_by: key.replacedBy,
    secret,
    sha256: secret === undefined ? sha256 : undefined,
  };
  const present = Object.entries(written).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Partial<ScenarioKey> as ScenarioKey;
}
