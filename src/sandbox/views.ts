import { fingerprintOf, forEachEnd, keyStateAt } from "../rules/api-key.js";
import { type Assumptions, assumptionsFor, type Profile } from "../rules/assumptions.js";
import { SandboxError } from "../rules/errors.js";
import type { Organization } from "../rules/organization.js";
import { outcomes } from "../rules/outcomes.js";
import { requireFields } from "../rules/schema/check.js";
import type { ValueOf } from "../rules/schema/shape.js";
import { didYouMean, quote } from "../rules/schema/words.js";
import { isoOf } from "../rules/time.js";
import { isReserved } from "../scenario/format/fields.js";
import type { expectationQuery, requestQuery } from "../scenario/format/inputs.js";
import type { VirtualClock } from "./clock.js";
import { successOutcomesOf } from "./endpoint.js";
import { type Exchange, sourceOf } from "./journal/exchange.js";
import { hasKey, hasOutcome, type RequestFilter } from "./journal/journal.js";
import type { KeyEntry } from "./registry.js";
import type { SandboxState } from "./sandbox-state.js";
import { usageAt } from "./usage.js";
import type { ClockView, KeyView, ListedKeyRef, OrganizationView, RequestView } from "./view-shapes.js";

export function viewKey(
  { key, ...entry }: KeyEntry,
  sandbox: SandboxState,
  now = sandbox.clock.now(),
): KeyView {
  const usage = usageAt(entry.usage, sandbox.windows, now);
  const timeOf = (at: number | undefined) => (at === undefined ? null : isoOf(at));
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
    ...forEachEnd((end) => timeOf(key[end])),
    replacedBy: (key.replacedBy ?? null) as ListedKeyRef | null,
    replaces: (key.replaces ?? null) as ListedKeyRef | null,
  };
}

/** At most `limit` entries from index `offset`. Default: all. */
type Page = { readonly offset?: number | undefined; readonly limit?: number | undefined };

function pageOf<Entry>(
  entries: ReadonlyMap<string, Entry>,
  { offset = 0, limit = Number.POSITIVE_INFINITY }: Page,
): Entry[] {
  const page: Entry[] = [];
  let index = 0;
  // Not a copy: the dashboard asks for one page of 100,000 keys each second.
  for (const entry of entries.values()) {
    if (page.length >= limit) break;
    if (index >= offset) page.push(entry);
    index += 1;
  }
  return page;
}

export function viewKeys(sandbox: SandboxState, page: Page = {}): KeyView[] {
  return pageOf(sandbox.registry.keys, page).map((entry) => viewKey(entry, sandbox));
}

export function viewOrganizations({ registry }: SandboxState, page: Page = {}): OrganizationView[] {
  const organizations = pageOf(registry.organizations, page);
  return organizations.map(({ organization }) => viewOrganization(organization));
}

/** The sandbox's own profile and assumptions; the conditions of a run are not among them. */
export function viewAssumptions(sandbox: SandboxState): Assumptions & { readonly profile: Profile } {
  const { profile, ownAssumptions, endpoints, run, assumptions } = sandbox;
  const withoutRun = run === undefined ? assumptions : assumptionsFor(profile, ownAssumptions, endpoints);
  return { profile, ...withoutRun };
}

export function viewClock(clock: VirtualClock): ClockView {
  return { now: isoOf(clock.now()), frozen: clock.isFrozen() };
}

export function viewOrganization(organization: Organization): OrganizationView {
  return { ...organization };
}

/** Throws `unknown_ref` for an unknown key, `validation_failed` for an outcome that the sandbox does not have. */
function requireKnown({ registry, endpoints }: SandboxState, { outcome, key }: RequestFilter): void {
  if (key !== undefined && !isReserved(key)) registry.key(key);
  const ids: readonly string[] = [...outcomes.map(({ id }) => id), ...endpoints.flatMap(successOutcomesOf)];
  if (outcome === undefined || ids.includes(outcome)) return;
  const problem = `${quote(outcome)} does not exist in this sandbox.${didYouMean(outcome, ids)}`;
  requireFields("find requests", { outcome: `${problem} Its report lists all outcomes` });
}

/** Lists the matching requests of the journal. */
export function listRequests(sandbox: SandboxState, query: ValueOf<typeof requestQuery>): RequestView[] {
  requireKnown(sandbox, query);
  return sandbox.journal.requests(query).map(viewRequest);
}

/** Throws `expectation_failed` with the five nearest requests unless there are `count`, by default at least one. */
export function expectRequests(
  sandbox: SandboxState,
  { count, faults, ...filter }: ValueOf<typeof expectationQuery>,
): number {
  requireKnown(sandbox, filter);
  const { journal } = sandbox;
  const { outcome, key } = filter;
  const exchanges = journal.requests({ source: "client", faults }).reverse();
  const closeness = (one: Exchange) => Number(hasOutcome(one, filter)) + Number(hasKey(one, filter));
  const matching = exchanges.filter((one) => closeness(one) === 2).length;
  if (count === undefined ? matching > 0 : matching === count) return matching;
  const nearest = exchanges
    .sort((one, other) => closeness(other) - closeness(one))
    .slice(0, 5)
    .map(({ id, at, key, status, outcome }) => ({ id, at: isoOf(at), key, status, outcome }));
  const wanted = [outcome, key && `the key ${key}`].filter((one) => one !== undefined).join(" and ");
  const total = journal.total();
  const inJournal = journal.requests().length;
  const nearestTexts = nearest.map((one) => `${one.outcome} with ${one.key ?? "no known key"} (${one.id})`);
  throw new SandboxError(
    "expectation_failed",
    `Expected ${count ?? "at least 1"} ${(count ?? 1) === 1 ? "request" : "requests"}${wanted && ` with ${wanted}`}, found ${matching}. ${
      nearestTexts.length === 0
        ? "The journal has no request of a client."
        : `Nearest: ${nearestTexts.join(", ")}.`
    }${inJournal < total ? ` The journal has only the last ${inJournal} of ${total} requests; the report counts all.` : ""}`,
    { found: matching, nearest },
  );
}

export function viewRequest(exchange: Exchange): RequestView {
  const { id, at, method, path, status, code, outcome, fault, advice, durationMs } = exchange;
  return {
    id,
    at: isoOf(at),
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
