import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import { type KeyStateName, keyStateAt } from "../rules/key-state.js";
import { type Environment, fingerprintOf } from "../rules/keys/key-text.js";
import type { Organization } from "../rules/organization.js";
import { isoTime } from "../rules/time.js";
import type { Endpoint } from "./call.js";
import type { VirtualClock } from "./clock.js";
import type { RecordAdditions } from "./record-additions.js";
import type { KeyEntry, Registry } from "./registry.js";
import { usageAt } from "./usage.js";

// What lists show of a sandbox: first what each view has, then the functions that make them.

/**
 * The ref of a key as a sandbox lists it. Methods that take a key accept a ref of the scenario's type, so that a compiler finds a
 * misspelled one, or a ref with this type: `keys.revoke(keys.list()[0].ref)`.
 */
export type ListedKeyRef = string & { readonly listedKeyRef: true };

/** A key in lists; never contains the key itself (R34). Times are ISO 8601. */
export interface KeyView {
  readonly ref: ListedKeyRef;
  readonly organization: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly limits: { readonly perMinute: number; readonly perDay: number };
  readonly environment: Environment;
  readonly legacy: boolean;
  /** The first 12 hex digits of the key's SHA-256. */
  readonly fingerprint: string;
  readonly state: KeyStateName;
  readonly usage: { readonly thisMinute: number; readonly today: number };
  /** When it was created; `null` for a key that the scenario starts with. */
  readonly createdAt: string | null;
  readonly revokedAt: string | null;
  readonly expiresAt: string | null;
  readonly overlapEndsAt: string | null;
  readonly replacedBy: ListedKeyRef | null;
  readonly replaces: ListedKeyRef | null;
}

/** An organization in lists, with all its members. */
export interface OrganizationView extends Organization {}

/** The clock for display; `now` is ISO 8601. */
export interface ClockView {
  readonly now: string;
  readonly frozen: boolean;
}

/** An event that happens when the clock reaches it. */
export interface Upcoming {
  /** When; ISO 8601. */
  readonly at: string;
  readonly kind:
    | "overlap_ends"
    | "key_expires"
    | "minute_reset"
    | "day_reset"
    | "timeline_step"
    | "fault_begins"
    | "fault_ends";
  readonly key: string | null;
  readonly organization: string | null;
  /** The index of the timeline's step. */
  readonly step: number | null;
  readonly text: string;
}

/** What views are made of: a `SandboxState` has all of it. */
interface ShownSandbox {
  readonly registry: Registry;
  readonly clock: VirtualClock;
  readonly additions: RecordAdditions;
}

export function viewKey(entry: KeyEntry, sandbox: ShownSandbox, now = sandbox.clock.now()): KeyView {
  const { key } = entry;
  const usage = usageAt(entry.usage, now);
  return {
    ref: key.ref as ListedKeyRef, // so that a compiler does not check it, as it does refs of a scenario
    organization: key.organization,
    name: key.name,
    scopes: [...key.scopes, ...sandbox.additions.scopes],
    limits: { ...key.limits },
    environment: key.environment,
    legacy: key.legacy,
    fingerprint: fingerprintOf(key.sha256),
    state: keyStateAt(key, now),
    usage: { thisMinute: usage.minuteCount, today: usage.dayCount },
    createdAt: viewTime(key.createdAt),
    revokedAt: viewTime(key.revokedAt),
    expiresAt: viewTime(key.expiresAt),
    overlapEndsAt: viewTime(key.overlapEndsAt),
    replacedBy: (key.replacedBy ?? null) as ListedKeyRef | null,
    replaces: (key.replaces ?? null) as ListedKeyRef | null,
  };
}

function viewTime(at: number | undefined): string | null {
  return at === undefined ? null : isoTime(at);
}

/** At most `limit` entries from index `offset`. Default: all. */
type Page = { readonly offset?: number | undefined; readonly limit?: number | undefined };

export function pageOf<Entry>(entries: ReadonlyMap<string, Entry>, page: Page): Entry[] {
  const { offset = 0, limit = Number.POSITIVE_INFINITY } = page;
  const entriesOfPage: Entry[] = [];
  let index = 0;
  // Not a copy: the dashboard asks for one page of 100,000 keys each second.
  for (const entry of entries.values()) {
    if (entriesOfPage.length >= limit) break;
    if (index >= offset) entriesOfPage.push(entry);
    index += 1;
  }
  return entriesOfPage;
}

export function viewKeys(sandbox: ShownSandbox, page: Page = {}): KeyView[] {
  return pageOf(sandbox.registry.keys, page).map((entry) => viewKey(entry, sandbox));
}

export function viewOrganizations(sandbox: ShownSandbox, page: Page = {}): OrganizationView[] {
  const entries = pageOf(sandbox.registry.organizations, page);
  return entries.map(({ organization }) => viewOrganization(organization, sandbox));
}

export function viewOrganization(
  organization: Organization,
  { additions }: Pick<ShownSandbox, "additions">,
): OrganizationView {
  return { ...organization, name: organization.name + additions.nameEnding };
}

/** The sandbox's own profile and assumptions; the conditions of a run are not among them. */
export function viewAssumptions({
  profile,
  ownAssumptions,
  endpoints,
}: {
  readonly profile: Profile;
  readonly ownAssumptions: Partial<Assumptions>;
  readonly endpoints: readonly Endpoint[];
}): Assumptions & { readonly profile: Profile } {
  return { profile, ...resolveAssumptions(profile, ownAssumptions, endpoints) };
}

export function viewClock(clock: VirtualClock): ClockView {
  return { now: isoTime(clock.now()), frozen: clock.isFrozen() };
}
