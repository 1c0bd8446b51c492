import { adviceIds } from "../domain/advice.js";
import { environments, fingerprintOf, keyStateAt, keyStates } from "../domain/api-key.js";
import {
  liveAccessStates,
  type Organization,
  organizationStatuses,
  organizationTypes,
} from "../domain/organization.js";
import { faultPathIds, outcomes } from "../domain/outcomes.js";
import { type Exchange, sourceOf } from "../history/exchange.js";
import type { History } from "../history/history.js";
import { type requestQuery, requestSources } from "../scenario/format/control-bodies.js";
import {
  choice,
  count,
  flag,
  instant,
  list,
  mapping,
  nullable,
  number,
  optional,
  type Shape,
  text,
  uuid,
  type ValueOf,
} from "../schema/shape.js";
import { type Clock, isoOf } from "./clock.js";
import { settleUsage, type Windows } from "./counters.js";
import type { KeyEntry, Registry } from "./registry.js";

interface ViewedWorld {
  readonly clock: Clock;
  readonly windows: Windows;
  readonly registry: Registry;
}

/** A key's ref from a sandbox, which may be in no scenario: a compiler cannot check it. */
export type ListedKeyRef = string & { readonly listedKeyRef: true };

const ref = () => text() as Shape<ListedKeyRef>;

export const keyShape = mapping({
  ref: ref(),
  organization: text(),
  name: text(),
  environment: choice(environments),
  legacy: flag(),
  /** The first 12 hex digits of the key's SHA-256. */
  fingerprint: text({ pattern: /^[0-9a-f]{12}$/ }),
  state: choice(keyStates),
  scopes: list(text()),
  limits: mapping({ perMinute: count(), perDay: count() }),
  usage: mapping({ thisMinute: count(), today: count() }),
  revokedAt: nullable(instant()),
  expiresAt: nullable(instant()),
  overlapEndsAt: nullable(instant()),
  replacedBy: nullable(ref()),
  replaces: nullable(ref()),
});
/** A key in lists; never contains the key itself (R34). Times are ISO 8601. */
export interface KeyView extends ValueOf<typeof keyShape> {}

export const organizationShape = mapping({
  ref: text(),
  name: text(),
  /** UUID. */
  id: uuid(),
  type: choice(organizationTypes),
  status: choice(organizationStatuses),
  sandboxAccess: flag(),
  liveAccess: choice(liveAccessStates),
});
/** An organization in lists, with all its members. */
export interface OrganizationView extends ValueOf<typeof organizationShape> {}

export const clockShape = mapping({ now: instant(), frozen: flag() });
/** The clock for display; `now` is ISO 8601. */
export interface ClockView extends ValueOf<typeof clockShape> {}

export const requestShape = mapping({
  /** The request id, whether or not the response carried it. */
  id: text(),
  method: text(),
  /** Without its query; everything that looks like a key is shortened. */
  path: text(),
  /** On the sandbox's clock; ISO 8601. */
  at: instant(),
  /** The ref of the key, if it is known. */
  key: nullable(ref()),
  /** The first 12 hex digits of the presented key's SHA-256. */
  fingerprint: nullable(text()),
  /** 0 when a fault left the request without a response. */
  status: count(),
  /** The API's error code. */
  code: nullable(text()),
  pathId: choice(outcomes.map(({ path }) => path)),
  /** The fault that affected the request. If it only delayed the response, `pathId` is the response's. */
  fault: nullable(choice(faultPathIds)),
  /** Whether the client did not wait for a delayed response. Default: false. */
  unread: optional(flag()),
  /** The advice that it caused; nearly always none. */
  advice: list(choice(adviceIds)),
  /** Milliseconds until the response, including a fault's latency. */
  durationMs: number({ least: 0 }),
  /** Who sent it: a client, or `story` for the story and `POST /send`. */
  source: choice(requestSources),
});
/** A request in the journal. Contains no key, only its ref and fingerprint (R46). */
export interface RequestView extends ValueOf<typeof requestShape> {}

export function viewKey({ key, usage }: KeyEntry, world: ViewedWorld): KeyView {
  const now = world.clock.now();
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

export function viewClock(clock: Clock): ClockView {
  return { now: new Date(clock.now()).toISOString(), frozen: clock.isFrozen() };
}

export function viewOrganization(organization: Organization): OrganizationView {
  return { ...organization };
}

/** Lists the matching requests of the journal; throws `unknown_ref` for an unknown key. */
export function listRequests(
  { history, registry }: ViewedWorld & { readonly history: Pick<History<never>, "requests"> },
  { limit, path_id: pathId, key, source, probes }: ValueOf<typeof requestQuery>,
): Exchange[] {
  if (key !== undefined) registry.key(key);
  return history.requests({ limit, pathId, key, source, probes });
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
