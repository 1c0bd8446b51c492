import { type Environment, fingerprintOf, type KeyState, keyStateAt } from "../domain/api-key.js";
import type { KeyLimits } from "../domain/limits.js";
import type { Organization } from "../domain/organization.js";
import type { Clock } from "./clock.js";
import { settleUsage, type Windows } from "./counters.js";
import type { JournalEntry } from "./journal.js";
import type { KeyEntry, Registry } from "./registry.js";

interface ViewedWorld {
  readonly clock: Clock;
  readonly windows: Windows;
  readonly registry: Registry;
}

/** A key as lists show it; never the key itself (R34). Times are ISO 8601. */
export interface KeyView {
  readonly ref: string;
  readonly organization: string;
  readonly name: string;
  readonly environment: Environment;
  readonly legacy: boolean;
  /** The first 12 hex digits of the key's SHA-256. */
  readonly fingerprint: string;
  readonly state: KeyState;
  readonly scopes: readonly string[];
  readonly limits: KeyLimits;
  readonly usage: { readonly thisMinute: number; readonly today: number };
  readonly revokedAt: string | null;
  readonly expiresAt: string | null;
  readonly overlapEndsAt: string | null;
  readonly replacedBy: string | null;
  readonly replaces: string | null;
}

/** An organization as lists show it: all that there is. */
export type OrganizationView = Organization;

/** The clock as lists show it; `now` is ISO 8601. */
export interface ClockView {
  readonly now: string;
  readonly frozen: boolean;
}

/** A request as the journal shows it; `at` is ISO 8601. */
export type RequestView = Omit<JournalEntry, "at"> & { readonly at: string };

export function viewKey({ key, usage }: KeyEntry, world: ViewedWorld): KeyView {
  const now = world.clock.now();
  settleUsage(usage, world.windows, now);
  return {
    ref: key.ref,
    organization: key.organization,
    name: key.name,
    environment: key.environment,
    legacy: key.legacy,
    fingerprint: fingerprintOf(key.sha256),
    state: keyStateAt(key, now),
    scopes: [...key.scopes],
    limits: { ...key.limits },
    usage: { thisMinute: usage.minuteCount, today: usage.dayCount },
    revokedAt: isoTime(key.revokedAt),
    expiresAt: isoTime(key.expiresAt),
    overlapEndsAt: isoTime(key.overlapEndsAt),
    replacedBy: key.replacedBy ?? null,
    replaces: key.replaces ?? null,
  };
}

/** All keys, in the scenario's order. */
export function viewKeys(world: ViewedWorld): KeyView[] {
  return [...world.registry.keys.values()].map((entry) => viewKey(entry, world));
}

/** All organizations, in the scenario's order. */
export function viewOrganizations({ registry }: ViewedWorld): OrganizationView[] {
  return [...registry.organizations.values()].map(({ organization }) => viewOrganization(organization));
}

export function viewClock(clock: Clock): ClockView {
  return { now: new Date(clock.now()).toISOString(), frozen: clock.isFrozen() };
}

export function viewOrganization(organization: Organization): OrganizationView {
  return { ...organization };
}

/** A journal entry, for people. */
export function viewRequest(entry: JournalEntry): RequestView {
  return { ...entry, at: new Date(entry.at).toISOString() };
}

function isoTime(instant: number | undefined): string | null {
  return instant === undefined ? null : new Date(instant).toISOString();
}
