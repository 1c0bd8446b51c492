import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import { keyStateAt } from "../rules/key-state.js";
import { fingerprintOf } from "../rules/keys/key-text.js";
import type { Organization } from "../rules/organization.js";
import { isoTime } from "../rules/time.js";
import type { VirtualClock } from "./clock.js";
import { type Exchange, sourceOf } from "./journal/exchange.js";
import type { KeyEntry } from "./registry.js";
import type { SandboxState } from "./sandbox-state.js";
import { usageAt } from "./usage.js";
import type { ClockView, KeyView, ListedKeyRef, OrganizationView, RequestView } from "./view-shapes.js";

export function viewKey(entry: KeyEntry, sandbox: SandboxState, now = sandbox.clock.now()): KeyView {
  const { key } = entry;
  const usage = usageAt(entry.usage, sandbox.windows, now);
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

function pageOf<Entry>(entries: ReadonlyMap<string, Entry>, page: Page): Entry[] {
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

export function viewKeys(sandbox: SandboxState, page: Page = {}): KeyView[] {
  return pageOf(sandbox.registry.keys, page).map((entry) => viewKey(entry, sandbox));
}

export function viewOrganizations(sandbox: SandboxState, page: Page = {}): OrganizationView[] {
  const entries = pageOf(sandbox.registry.organizations, page);
  return entries.map(({ organization }) => viewOrganization(organization, sandbox));
}

export function viewOrganization(
  organization: Organization,
  { additions }: Pick<SandboxState, "additions">,
): OrganizationView {
  return { ...organization, name: organization.name + additions.nameEnding };
}

/** The sandbox's own profile and assumptions; the conditions of a run are not among them. */
export function viewAssumptions(sandbox: SandboxState): Assumptions & { readonly profile: Profile } {
  const { profile, ownAssumptions, endpoints } = sandbox;
  return { profile, ...resolveAssumptions(profile, ownAssumptions, endpoints) };
}

export function viewClock(clock: VirtualClock): ClockView {
  return { now: isoTime(clock.now()), frozen: clock.isFrozen() };
}

export function viewRequest(exchange: Exchange): RequestView {
  const { id, at, method, path, status, code, outcome, fault, advice, durationMs } = exchange;
  return {
    id,
    at: isoTime(at),
    method,
    path,
    status,
    code,
    outcome,
    fault,
    advice,
    durationMs,
    source: sourceOf(exchange),
    ...(exchange.isUnread && { unread: true }),
    key: exchange.key as ListedKeyRef | null,
    fingerprint: exchange.fingerprint,
  };
}
