import type { KeyRecord } from "../rules/api-key.js";
import type { RejectionCode } from "../rules/errors.js";
import { isSuccess } from "../rules/outcomes.js";
import { isCounted } from "./append-exchange.js";
import { type Counts, learn } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import type { Happening } from "./journal/history.js";
import type { KeyEntry, Usage } from "./keys.js";
import { applyChange, nextRuleAt } from "./records/records.js";
import { createRequestIds } from "./request-ids.js";
import { replaceState, type SandboxState } from "./sandbox.js";
import type { OtherEvent, StoryProgress } from "./steps.js";

// A line has what has happened in a sandbox since the line before, as results: whoever applies it computes nothing. It is small,
// however large the sandbox is.

export interface Line {
  /** On the platform's wall clock (epoch milliseconds). */
  readonly at: number;
  readonly now: number;
  readonly frozen: boolean;
  readonly responded: number;
  readonly recorded: number;
  readonly matched: readonly number[];
  readonly happened: readonly Happening<OtherEvent>[];
  readonly usage: Readonly<Record<string, Usage>>;
  /** Default: each request is counted. */
  readonly counts?: Counts | undefined;
  /** The keys that were created or changed. */
  readonly keys?: readonly KeyRecord[] | undefined;
  readonly pages?: readonly string[] | undefined;
  readonly timeline: {
    readonly next: number;
    readonly rejections?: readonly (readonly [number, RejectionCode])[];
  };
  readonly story?: Pick<StoryProgress, "next" | "last"> & {
    readonly verdicts: readonly (readonly [number, boolean])[];
  };
  /** Whether more has happened than the line has: the snapshot at its position has all. */
  readonly isWhole?: true;
  /** The number of requests that the journal keeps from here on. Default: as many as before. */
  readonly kept?: number | undefined;
  /** The requests whose clients did not wait for their delayed responses. */
  readonly unread?: readonly string[] | undefined;
}

/** What a sandbox was before a line, as far as no event shows that it changes. */
export type Mark = Readonly<Record<"story" | "pages" | "unread", number>>;

export function markOf({ story, behavior, counters }: SandboxState): Mark {
  return { story: story.next, pages: behavior.pages.size, unread: counters.unread() };
}

export function hasHappened(sandbox: SandboxState, happened: Line["happened"], before: Mark): boolean {
  const { story, unread } = markOf(sandbox);
  return happened.length > 0 || story !== before.story || unread !== before.unread;
}

/** Whether something happened that a line does not have, so that the whole sandbox must be described. */
export function isBeyondLine(happened: Line["happened"]): boolean {
  return happened.some((one) => "event" in one && beyond.has(one.event.type));
}

// The journal starts again with them.
const clearing: ReadonlySet<string> = new Set(["requests.cleared", "sandbox.started"]);
const beyond: ReadonlySet<string> = new Set(["assumptions.changed", "faults.changed", ...clearing]);

export function describeLine(sandbox: SandboxState, happened: Line["happened"], before?: Mark): Line {
  const { platform, clock, requestIds, faults, registry, history, counters, behavior, timeline, story } =
    sandbox;
  const requests = requestsIn(happened);
  const changed = happened.flatMap((one) => ("event" in one ? keysIn(one.event) : []));
  const entries = changed.map((ref) => registry.key(ref));
  const used = requests.flatMap(({ key }) => (key === null ? [] : (registry.keys.get(key) ?? [])));
  const mark = markOf(sandbox);
  const hasAdvice = requests.some((one) => one.advice.length > 0 || one.isResent);
  return {
    at: platform.time(),
    now: clock.now(),
    frozen: clock.isFrozen(),
    responded: requestIds.responded(),
    recorded: history.total(),
    matched: faults.map(({ matched }) => matched),
    happened,
    usage: Object.fromEntries([...used, ...entries].map(({ key, usage }) => [key.ref, usage])),
    timeline: {
      next: timeline.next,
      ...(timeline.rejections.size > 0 && { rejections: [...timeline.rejections] }),
    },
    ...((before === undefined || hasAdvice || mark.unread !== before.unread) && { counts: counters.read() }),
    ...(before !== undefined &&
      mark.unread !== before.unread && {
        unread: history.requests({ probes: true }).flatMap((one) => (one.isUnread ? one.id : [])),
      }),
    ...(entries.length > 0 && { keys: entries.map(({ key }) => key) }),
    ...(behavior.pages.size > (before?.pages ?? 0) && { pages: [...behavior.pages] }),
    ...(before !== undefined &&
      mark.story !== before.story && {
        story: { next: story.next, last: story.last, verdicts: [...story.verdicts] },
      }),
  };
}

/** Applies a line, without its requests and events for the journal. */
export function applyLine(sandbox: SandboxState, line: Line): void {
  const { clock, registry, faults, seed, idGroup, timeline, behavior, counters, story } = sandbox;
  clock.continueFrom(line.now, line.frozen);
  replaceState(sandbox, { requestIds: createRequestIds(seed, line.responded, idGroup) });
  for (const [index, fault] of faults.entries()) fault.matched = line.matched[index] ?? fault.matched;
  for (const key of line.keys ?? []) putKey(sandbox, key, line.usage[key.ref] as Usage);
  for (const event of line.happened) {
    if ("request" in event) applyRequest(sandbox, event.request, line.counts === undefined);
    else if ("event" in event) applyEvent(sandbox, event.event);
  }
  for (const [ref, usage] of Object.entries(line.usage)) registry.key(ref).usage = usage;
  if (line.counts !== undefined) counters.restore(line.counts);
  for (const page of line.pages ?? []) behavior.pages.add(page);
  timeline.next = line.timeline.next;
  for (const rejection of line.timeline.rejections ?? []) timeline.rejections.set(...rejection);
  timeline.dueAt = Math.min(
    timeline.steps[timeline.next]?.at ?? Number.POSITIVE_INFINITY,
    nextRuleAt(sandbox.records),
  );
  if (line.story !== undefined) {
    const { verdicts, ...progress } = line.story;
    Object.assign(story, progress);
    for (const verdict of verdicts) story.verdicts.set(...verdict);
  }
}

/** Adds the requests and events of a line to the journal, and tells who follows it. */
export function tellLine({ history }: SandboxState, { happened, unread = [] }: Line): void {
  for (const event of happened) {
    if ("request" in event) history.record(event.request);
    else if ("event" in event) {
      if (clearing.has(event.event.type)) history.enter();
      history.emit(event.event);
    }
  }
  for (const id of unread) {
    const exchange = history.find(id);
    if (exchange !== undefined) exchange.isUnread = true;
  }
}

export function requestsIn(happened: Line["happened"]): Exchange[] {
  return happened.flatMap((one) => ("request" in one ? one.request : []));
}

/** The requests after which the journal was not cleared again. */
export function requestsInJournal(happened: Line["happened"]): Exchange[] {
  const cleared = happened.findLastIndex((one) => "event" in one && clearing.has(one.event.type));
  return requestsIn(happened.slice(cleared + 1));
}

function applyRequest(sandbox: SandboxState, exchange: Exchange, isUncounted: boolean): void {
  if (!isCounted(exchange)) return;
  const { key, pathId, delivery } = exchange;
  learn(sandbox.behavior, exchange);
  const entry = key === null ? undefined : sandbox.registry.keys.get(key);
  if (entry !== undefined && isSuccess(pathId) && delivery === undefined) entry.hasWorked = true;
  if (isUncounted) sandbox.counters.count(exchange);
}

function applyEvent({ records, registry }: SandboxState, event: OtherEvent): void {
  if (event.type === "record.changed") {
    const collection = records.get(event.change.collection);
    if (collection !== undefined) applyChange(collection, event.change);
  } else if (event.type === "organization.updated") {
    registry.organization(event.organization.ref).organization = event.organization;
  } else if (event.type === "key.rotated") {
    registry.key(event.key.ref).replacement = registry.key(event.replacement.ref);
  }
}

function putKey({ registry }: SandboxState, key: KeyRecord, usage: Usage): KeyEntry {
  const there = registry.keys.get(key.ref);
  if (there === undefined) return registry.addKey({ key, usage });
  registry.change(there, key);
  return there;
}

/** The refs of the keys that an event is about. */
function keysIn(event: OtherEvent): string[] {
  if (event.type === "key.rotated") return [event.key.ref, event.replacement.ref];
  return event.type === "key.created" || event.type === "key.revoked" || event.type === "key.updated"
    ? [event.key.ref]
    : [];
}
