import { faultKindRow } from "../rules/fault-effects.js";
import { endTime, type KeyRecord, keyStateAt, keyStateTable, lastClockInstant } from "../rules/key-state.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import type { RoutedCall } from "../sandbox/call.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { me } from "./endpoints.js";
import { predictCall } from "./next-request.js";
import { type ClockEvent, clockEvents } from "./upcoming.js";

// The life of a key: phases, one after the other, in each of which all requests get the same result.
//
// | time                                    | what is known                                                      |
// |-----------------------------------------|--------------------------------------------------------------------|
// | before now                              | when the key was created and ended, and not what it got until then |
// | from now on                             | what a request gets, if nobody sends or changes anything before it |
// | after a step of the timeline for it     | nothing: the step may be rejected                                  |
//
// Nothing here decides what a request gets: at each upcoming event, the same prediction is made as for `nextRequest`.

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

const never = Number.POSITIVE_INFINITY;

/** What requests get from a time on (epoch milliseconds), until the next one. Infinite where the time is unknown. */
interface Result extends Pick<Phase, "outcome" | "sure" | "mayFault"> {
  readonly from: number;
}

/** The result of a request where nobody knows it. */
const unknown = { outcome: null, sure: false, mayFault: false } as const;

/** The lives of these keys of a sandbox. */
export function lifelines(sandbox: SandboxState, entries: readonly KeyEntry[]): Lifeline[] {
  const now = sandbox.clock.now();
  return entries.map((entry) => {
    const { ref, organization, replaces = null } = entry.key;
    const results = [...pastResults(entry.key, now), ...comingResults(sandbox, entry, now)];
    return { key: ref, organization, replaces, phases: phasesOf(results) };
  });
}

/** The life of a key before now: a key that has ended gets the same 401 since then. */
function pastResults(key: KeyRecord, now: number): Result[] {
  const { rejection } = keyStateTable[keyStateAt(key, now)];
  const results: Result[] = [{ ...unknown, from: key.createdAt ?? -never }];
  const from = endTime(key);
  if (from < now) results.push({ from, outcome: rejection, sure: true, mayFault: false });
  return results;
}

/** What requests with a key get from now on: the prediction at each event, up to a step of the timeline that may change it. */
function comingResults(sandbox: SandboxState, entry: KeyEntry, now: number): Result[] {
  const events = clockEvents(sandbox, now, [entry]).filter(({ at }) => at > now && at <= lastClockInstant);
  events.sort((before, after) => before.at - after.at);

  const results = [resultAt(sandbox, entry, now)];
  for (const event of events) {
    if (isStepFor(sandbox, event, entry.key)) {
      results.push({ ...unknown, from: event.at });
      break;
    }
    results.push(resultAt(sandbox, entry, event.at));
  }
  return results;
}

/** Whether an event is a step of the timeline that may change what this key gets. */
function isStepFor({ timeline }: SandboxState, event: ClockEvent, record: KeyRecord): boolean {
  const { at, kind, key, organization, step } = event;
  if (kind !== "timeline_step") return false;
  // A new key changes no other one.
  const action = timeline.steps[(step ?? 0) - 1]?.step;
  if (action?.create_key !== undefined) return false;
  // One about nobody, such as new faults, is for all. No other changes a key that has ended.
  if (!key && !organization) return true;
  if (keyStateTable[keyStateAt(record, at)].isOver) return false;
  return key ? key === record.ref : organization === record.organization;
}

/** What a request with a key gets at a time. */
function resultAt(sandbox: SandboxState, entry: KeyEntry, at: number): Result {
  const call: RoutedCall = { presented: "well_formed", entry, now: at, route: undefined, endpoint: me };
  const { outcome, faults } = predictCall(sandbox, call, me);
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
    const isOver = (results[index + 1]?.from ?? never) <= from;
    const before = changes.at(-1);
    const isSame = before?.outcome === outcome && before.sure === sure && before.mayFault === mayFault;
    // What a key got and what it will get differ, also if nobody knows either: before now, no fault is known.
    const isKnown = outcome !== null || mayFault;
    if (!isOver && !(isSame && isKnown)) changes.push(result);
  }

  const phases: Phase[] = [];
  for (const [index, { from, outcome, sure, mayFault }] of changes.entries()) {
    phases.push({
      from: timeOrNull(from),
      until: timeOrNull(changes[index + 1]?.from),
      outcome,
      sure,
      mayFault,
    });
  }
  return phases;
}

/** A time for display: an infinite one is none. */
function timeOrNull(at = never): string | null {
  return Number.isFinite(at) ? isoTime(at) : null;
}
