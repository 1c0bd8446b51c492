import { faultKindRow, faultOutcomeId } from "../rules/fault-effects.js";
import { endStateOf, endTime, keyStateAt, keyStateTable, lastClockInstant } from "../rules/key-state.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { dayEnd, isoTime, minuteEnd } from "../rules/time.js";
import type { RoutedCall } from "../sandbox/call.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { keyRefsOf } from "../sandbox/steps.js";
import type { Upcoming } from "../sandbox/views.js";
import { actionName, actionRefs } from "../scenario/actions.js";
import { me } from "./endpoints.js";
import { predictCall } from "./next-request.js";

// What time alone changes: the events ahead, and by them the life of a key. A life has phases, one after the other, in each of which
// all requests get the same result.
//
// | time                                    | what is known                                                      |
// |-----------------------------------------|--------------------------------------------------------------------|
// | before now                              | when the key was created and ended, and not what it got until then |
// | from now on                             | what a request gets, if nobody sends or changes anything before it |
// | after a step of the timeline for it     | nothing: the step may be rejected                                  |
//
// Nothing here decides what a request gets: at each event, the same prediction is made as for `nextRequest`.

const maxUpcoming = 100;

/** An event by which a sandbox changes on its own. `at` is in epoch milliseconds. */
type ClockEvent = Omit<Upcoming, "at"> & { readonly at: number };

/** Lists at most 100 events that happen without an action, earliest first, up to the last instant of the clock. */
export function listUpcoming(sandbox: SandboxState): Upcoming[] {
  const events = eventsAhead(sandbox, sandbox.registry.keys.values()).slice(0, maxUpcoming);
  return events.map((event) => ({ ...event, at: isoTime(event.at) }));
}

/** Returns the next instant (epoch milliseconds) when time alone changes something; infinite for none. */
export function nextChangeAt(sandbox: SandboxState): number {
  const [next] = eventsAhead(sandbox, sandbox.registry.keys.values());
  return next?.at ?? Number.POSITIVE_INFINITY;
}

/** The events ahead by which a sandbox changes on its own, earliest first. `entries`: the keys whose ends are among them. */
function eventsAhead(sandbox: SandboxState, entries: Iterable<KeyEntry>): ClockEvent[] {
  const now = sandbox.clock.now();
  const ofAll = { key: null, organization: null, step: null };
  const events: ClockEvent[] = [
    ...keyEvents(entries),
    { ...ofAll, at: minuteEnd(now), kind: "minute_reset", text: "The limits per minute reset" },
    { ...ofAll, at: dayEnd(now), kind: "day_reset", text: "The limits per day reset" },
    ...timelineEvents(sandbox),
    ...faultEvents(sandbox),
  ];
  const ahead = events.filter(({ at }) => at > now && at <= lastClockInstant);
  return ahead.sort((before, after) => before.at - after.at);
}

function keyEvents(entries: Iterable<KeyEntry>): ClockEvent[] {
  const events: ClockEvent[] = [];
  for (const { key } of entries) {
    const { ref, organization } = key;
    const end = endStateOf(key);
    const ofKey = { key: ref, organization, step: null, at: endTime(key, end) };
    // A revocation is never ahead.
    if (end === "expired") events.push({ ...ofKey, kind: "key_expires", text: `Key ${ref} expires` });
    if (end === "rotated") {
      events.push({ ...ofKey, kind: "overlap_ends", text: `Overlap of ${ref} ends: it stops working` });
    }
  }
  return events;
}

function timelineEvents({ timeline }: SandboxState): ClockEvent[] {
  const events: ClockEvent[] = [];
  for (const [index, { at, step }] of timeline.steps.entries()) {
    if (index < timeline.next) continue;
    const number = index + 1;
    const action = actionName(step) ?? "nothing";
    events.push({
      at,
      kind: "timeline_step",
      step: number,
      key: keyRefsOf(step).key,
      organization: actionRefs(step).organization ?? null,
      text: `Step ${number} of the timeline: ${action}`,
    });
  }
  return events;
}

function faultEvents({ faults }: SandboxState): ClockEvent[] {
  const events: ClockEvent[] = [];
  for (const { when, effect } of faults) {
    const { after, until, key = null, organization = null } = when;
    const outcome = faultOutcomeId(effect);
    if (after !== undefined) {
      events.push({
        key,
        organization,
        step: null,
        at: after,
        kind: "fault_begins",
        text: `${outcome} begins`,
      });
    }
    if (until !== undefined) {
      events.push({ key, organization, step: null, at: until, kind: "fault_ends", text: `${outcome} ends` });
    }
  }
  return events;
}

/** A part of a key's life. Times are ISO 8601. */
export interface Phase {
  /** When it starts; `null` if nobody knows. */
  readonly from: string | null;
  /** When it ends; `null` if it does not. */
  readonly until: string | null;
  /** What a request gets, unless a fault hits it by chance or by its number; `null` if nobody knows. */
  readonly outcome: OutcomeId | null;
  /** Whether each request gets this outcome. */
  readonly sure: boolean;
  /** Whether a fault may hit a request: if the outcome is sure, it hits all of them. */
  readonly mayFault: boolean;
}

/** A key and its life. */
export interface Lifeline {
  readonly key: string;
  readonly organization: string;
  readonly replaces: string | null;
  /** Earliest first; each starts when the one before it ends. */
  readonly phases: readonly Phase[];
}

/** What requests get from a time on (epoch milliseconds), until the next one. Infinite where the time is unknown. */
interface Result extends Pick<Phase, "outcome" | "sure" | "mayFault"> {
  readonly from: number;
}

/** The result of a request where nobody knows it. */
const unknown = { outcome: null, sure: false, mayFault: false } as const;

/** The lives of these keys of a sandbox. */
export function lifelines(sandbox: SandboxState, entries: readonly KeyEntry[]): Lifeline[] {
  return entries.map((entry) => {
    const { ref, organization, replaces = null } = entry.key;
    return { key: ref, organization, replaces, phases: phasesOf(resultsOf(sandbox, entry)) };
  });
}

/** What requests with a key got and will get: each result starts at an event of its life. */
function resultsOf(sandbox: SandboxState, entry: KeyEntry): Result[] {
  const { key } = entry;
  const now = sandbox.clock.now();
  const results: Result[] = [{ ...unknown, from: key.createdAt ?? Number.NEGATIVE_INFINITY }];
  // A key that has ended gets the same 401 since then.
  const end = endTime(key);
  const { rejection } = keyStateTable[keyStateAt(key, now)];
  if (end < now) results.push({ from: end, outcome: rejection, sure: true, mayFault: false });

  results.push(resultAt(sandbox, entry, now));
  for (const event of eventsAhead(sandbox, [entry])) {
    if (event.kind === "timeline_step" && mayChange(event, entry)) {
      results.push({ ...unknown, from: event.at });
      break;
    }
    results.push(resultAt(sandbox, entry, event.at));
  }
  return results;
}

/** Whether a step of the timeline may change what a key gets: a step about nobody, such as new faults, may. A key that has ended stays so. */
function mayChange({ at, key, organization }: ClockEvent, { key: record }: KeyEntry): boolean {
  if (key === null && organization === null) return true;
  if (keyStateTable[keyStateAt(record, at)].isOver) return false;
  return key === null ? organization === record.organization : key === record.ref;
}

/** What a request with a key gets at a time. */
function resultAt(sandbox: SandboxState, entry: KeyEntry, at: number): Result {
  const call: RoutedCall = { presented: "well_formed", entry, now: at, route: undefined, endpoint: me };
  const { outcome, faults } = predictCall(sandbox, call);
  const [first] = faults;
  if (first === undefined) return { from: at, outcome, sure: true, mayFault: false };

  // A delayed response keeps its outcome.
  const onlyDelay = faults.every((fault) => faultKindRow(fault.outcome).onlyDelays);
  if (onlyDelay) return { from: at, outcome, sure: true, mayFault: true };

  // A certain fault, the last one, hits what none before it hits.
  const isEachHit = faults.at(-1)?.isCertain === true;
  if (!isEachHit) return { from: at, outcome, sure: false, mayFault: true };
  const areAlike = faults.every((fault) => fault.outcome === first.outcome);
  return { from: at, outcome: areAlike ? first.outcome : null, sure: areAlike, mayFault: true };
}

/** The phases of a life: results that follow each other and are the same are one phase. */
function phasesOf(results: readonly Result[]): Phase[] {
  const changes: Result[] = [];
  for (const [index, result] of results.entries()) {
    const { from, outcome, sure, mayFault } = result;
    const isOver = (results[index + 1]?.from ?? Number.POSITIVE_INFINITY) <= from;
    const before = changes.at(-1);
    const isSame = before?.outcome === outcome && before.sure === sure && before.mayFault === mayFault;
    // What a key got and what it will get differ, also if nobody knows either: before now, no fault is known.
    const isKnown = outcome !== null || mayFault;
    if (!isOver && !(isSame && isKnown)) changes.push(result);
  }

  // A time that nobody knows is infinite.
  const timeOrNull = (at: number) => (Number.isFinite(at) ? isoTime(at) : null);
  const phases: Phase[] = [];
  for (const [index, { from, outcome, sure, mayFault }] of changes.entries()) {
    const until = changes[index + 1]?.from ?? Number.POSITIVE_INFINITY;
    phases.push({ from: timeOrNull(from), until: timeOrNull(until), outcome, sure, mayFault });
  }
  return phases;
}
