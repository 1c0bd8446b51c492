import { fingerprintOf, keyStateAt, mapKeyEnds } from "../rules/api-key.js";
import { type Assumptions, type Profile, resolveAssumptions } from "../rules/assumptions.js";
import { SandboxError } from "../rules/errors.js";
import type { Organization } from "../rules/organization.js";
import { outcomes } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import { requireFields } from "../rules/validation.js";
import { isReserved } from "../scenario/format/fields.js";
import type { expectationQuery, requestQuery } from "../scenario/format/inputs.js";
import type { ValueOf } from "../schema/shape.js";
import { didYouMean, quote } from "../schema/words.js";
import type { VirtualClock } from "./clock.js";
import { successOutcomesOf } from "./endpoint.js";
import { type Exchange, sourceOf } from "./journal/exchange.js";
import { matchedParts, type RequestFilter } from "./journal/journal.js";
import type { KeyEntry } from "./registry.js";
import type { SandboxState } from "./sandbox-state.js";
import { usageAt } from "./usage.js";
import type { ClockView, KeyView, ListedKeyRef, OrganizationView, RequestView } from "./view-shapes.js";

export function viewKey(entry: KeyEntry, sandbox: SandboxState, now = sandbox.clock.now()): KeyView {
  const { key } = entry;
  const usage = usageAt(entry.usage, sandbox.windows, now);
  return {
    ref: key.ref as ListedKeyRef,
    organization: key.organization,
    name: key.name,
    scopes: [...key.scopes],
    limits: { ...key.limits },
    environment: key.environment,
    legacy: key.legacy,
    fingerprint: fingerprintOf(key.sha256),
    state: keyStateAt(key, now),
    usage: { thisMinute: usage.minuteCount, today: usage.dayCount },
    createdAt: viewTime(key.createdAt),
    ...mapKeyEnds((end) => viewTime(key[end])),
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

export function viewOrganizations({ registry }: SandboxState, page: Page = {}): OrganizationView[] {
  const entries = pageOf(registry.organizations, page);
  return entries.map(({ organization }) => viewOrganization(organization));
}

export function viewOrganization(organization: Organization): OrganizationView {
  return { ...organization };
}

/** The sandbox's own profile and assumptions; the conditions of a run are not among them. */
export function viewAssumptions(sandbox: SandboxState): Assumptions & { readonly profile: Profile } {
  const { profile, ownAssumptions, endpoints } = sandbox;
  if (sandbox.run === undefined) return { profile, ...sandbox.assumptions };
  return { profile, ...resolveAssumptions(profile, ownAssumptions, endpoints) };
}

export function viewClock(clock: VirtualClock): ClockView {
  return { now: isoTime(clock.now()), frozen: clock.isFrozen() };
}

/** Lists the matching requests of the journal. */
export function listRequests(sandbox: SandboxState, query: ValueOf<typeof requestQuery>): RequestView[] {
  requireKnown(sandbox, query);
  return sandbox.journal.requests(query).map(viewRequest);
}

/** Throws `unknown_ref` for an unknown key, `validation_failed` for an outcome that the sandbox does not have. */
function requireKnown({ registry, endpoints }: SandboxState, filter: RequestFilter): void {
  const { outcome, key } = filter;
  if (key !== undefined && !isReserved(key)) registry.key(key);
  if (outcome === undefined) return;

  const outcomeIds: string[] = outcomes.map(({ id }) => id);
  for (const endpoint of endpoints) outcomeIds.push(...successOutcomesOf(endpoint));
  if (outcomeIds.includes(outcome)) return;
  const problem = `${quote(outcome)} does not exist in this sandbox.${didYouMean(outcome, outcomeIds)}`;
  requireFields("find requests", { outcome: `${problem} Its report lists all outcomes` });
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

/** Returns how many requests of clients match; throws `expectation_failed`, with the five nearest requests, unless there are `count`, by default at least one. */
export function expectRequests(sandbox: SandboxState, query: ValueOf<typeof expectationQuery>): number {
  const { count, faults, ...filter } = query;
  requireKnown(sandbox, filter);
  const { journal } = sandbox;
  const found = journal.requests({ source: "client", faults, ...filter }).length;
  const isExpected = count === undefined ? found > 0 : found === count;
  if (isExpected) return found;

  // Those that match most of the filter first; of those that match as much, the latest first.
  const byNearness = journal.requests({ source: "client", faults }).reverse();
  byNearness.sort((one, other) => matchedParts(other, filter) - matchedParts(one, filter));
  const nearest = byNearness.slice(0, 5).map(viewNearest);

  const sentences = [`Expected ${expectedRequests(count, filter)}, found ${found}.`, nearestInWords(nearest)];
  const total = journal.total();
  const inJournal = journal.requests().length;
  if (inJournal < total) {
    sentences.push(`The journal has only the last ${inJournal} of ${total} requests; the report counts all.`);
  }
  throw new SandboxError("expectation_failed", sentences.join(" "), { found, nearest });
}

type NearestRequest = Pick<Exchange, "id" | "key" | "status" | "outcome"> & { readonly at: string };

function viewNearest({ id, at, key, status, outcome }: Exchange): NearestRequest {
  return { id, at: isoTime(at), key, status, outcome };
}

function nearestInWords(nearest: readonly NearestRequest[]): string {
  if (nearest.length === 0) return "The journal has no request of a client.";
  const texts = nearest.map((one) => `${one.outcome} with ${one.key ?? "no known key"} (${one.id})`);
  return `Nearest: ${texts.join(", ")}.`;
}

/** The expectation in words: `2 requests with 401.revoked and the key main`. */
function expectedRequests(count: number | undefined, filter: RequestFilter): string {
  const noun = count === undefined || count === 1 ? "request" : "requests";
  const requests = `${count ?? "at least 1"} ${noun}`;
  const conditions: string[] = [];
  if (filter.outcome !== undefined) conditions.push(filter.outcome);
  if (filter.key !== undefined) conditions.push(`the key ${filter.key}`);
  return conditions.length === 0 ? requests : `${requests} with ${conditions.join(" and ")}`;
}
