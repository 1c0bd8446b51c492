import type { requestQuery } from "../scenario/format/inputs.js";
import { fingerprintOf, keyStateAt, type Organization } from "../spec/api-key.js";
import type { ValueOf } from "../spec/schema/shape.js";
import { isoOf, type VirtualClock } from "./clock.js";
import { type Exchange, sourceOf } from "./journal/exchange.js";
import type { History } from "./journal/history.js";
import { type KeyEntry, type Registry, settleUsage, type Windows } from "./keys.js";
import type { ClockView, KeyView, ListedKeyRef, OrganizationView, RequestView } from "./view-shapes.js";

interface ViewedWorld {
  readonly clock: VirtualClock;
  readonly windows: Windows;
  readonly registry: Registry;
}

/** Returns a key's view at an instant. */
export function viewKey({ key, usage }: KeyEntry, world: ViewedWorld, now = world.clock.now()): KeyView {
  settleUsage(usage, world.windows, now);
  return {
    ref: key.ref as ListedKeyRef,
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
    replacedBy: (key.replacedBy ?? null) as ListedKeyRef | null,
    replaces: (key.replaces ?? null) as ListedKeyRef | null,
  };
}

/** A part of a list: at most `limit` entries from index `offset`. Default: all. */
interface Page {
  readonly offset?: number | undefined;
  readonly limit?: number | undefined;
}

function pageOf<Entry>(entries: ReadonlyMap<string, Entry>, page: Page): Entry[] {
  const { offset = 0, limit = Number.POSITIVE_INFINITY } = page;
  return [...entries.values()].slice(offset, offset + limit);
}

/** Lists the keys in the scenario's order. */
export function viewKeys(world: ViewedWorld, page: Page = {}): KeyView[] {
  return pageOf(world.registry.keys, page).map((entry) => viewKey(entry, world));
}

/** Lists the organizations in the scenario's order. */
export function viewOrganizations({ registry }: ViewedWorld, page: Page = {}): OrganizationView[] {
  const organizations = pageOf(registry.organizations, page);
  return organizations.map(({ organization }) => viewOrganization(organization));
}

export function viewClock(clock: VirtualClock): ClockView {
  return { now: new Date(clock.now()).toISOString(), frozen: clock.isFrozen() };
}

export function viewOrganization(organization: Organization): OrganizationView {
  return { ...organization };
}

/** Lists the matching requests of the journal; throws `unknown_ref` for an unknown key. */
export function listRequests(
  { history, registry }: ViewedWorld & { readonly history: Pick<History<never>, "requests"> },
  { limit, path_id: pathId, key, source, probes, faults }: ValueOf<typeof requestQuery>,
): Exchange[] {
  if (key !== undefined) registry.key(key);
  return history.requests({ limit, pathId, key, source, probes, faults });
}

export function viewRequest(exchange: Exchange): RequestView {
  const { id, at, method, path, status, code, pathId, fault, advice, durationMs } = exchange;
  return {
    ...{ id, at: new Date(at).toISOString(), method, path, status, code, pathId, fault, advice, durationMs },
    source: sourceOf(exchange),
    ...(exchange.isUnread && { unread: true }),
    key: exchange.key as ListedKeyRef | null,
    fingerprint: exchange.fingerprint,
  };
}

function isoTime(instant: number | undefined): string | null {
  return instant === undefined ? null : isoOf(instant);
}
