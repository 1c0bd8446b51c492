import { faultKindRow } from "../rules/fault-effects.js";
import { type KeyRecord, keyStateAt, keyStateTable, lastClockInstant } from "../rules/key-state.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import type { RoutedCall } from "../sandbox/call.js";
import { VirtualClock } from "../sandbox/clock.js";
import { faultsAhead, shareWithFault } from "../sandbox/faults.js";
import { ClientBehavior } from "../sandbox/journal/client-behavior.js";
import { Journal } from "../sandbox/journal/journal.js";
import { runDue } from "../sandbox/operations/operations.js";
import { type KeyEntry, type OrganizationEntry, Registry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { limitUses } from "../sandbox/usage.js";
import { actionRefs } from "../scenario/actions.js";
import { predictOutcome } from "./authorize.js";
import { me } from "./endpoints.js";

// The life of a key: phases, one after the other, in each of which all requests get the same result.
//
// | time            | what is known                                                                          |
// |-----------------|----------------------------------------------------------------------------------------|
// | before now      | when the key was created and ended, and not what it got until then                     |
// | from now on     | everything, if nobody sends a request or changes anything: the timeline runs in a copy |
// | after 100 steps | nothing                                                                                |
//
// Nothing here decides what a request gets: each phase starts with the same prediction as `nextRequest`.

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
  /** The share of requests that a fault hits, from 0 to 1; `null` if a fault chooses requests by their numbers, or if nobody knows. */
  readonly faultShare: number | null;
}

/** A key and its life. */
export interface Lifeline {
  readonly key: string;
  readonly organization: string;
  readonly replaces: string | null;
  /** Earliest first; each starts when the one before it ends. */
  readonly phases: readonly Phase[];
}

/** The steps of a timeline that are looked at. Each of them may change what every key gets. */
const maxSteps = 100;

const never = Number.POSITIVE_INFINITY;

/** A phase while it is found, with its times in epoch milliseconds: infinite where there is none. */
interface TimedPhase extends Pick<Phase, "outcome" | "sure" | "faultShare"> {
  readonly from: number;
  until: number;
}

/** The result of a request where nobody knows it. */
const unknown = { outcome: null, sure: false, faultShare: null } as const;

/** The lives of these keys of a sandbox, which stays as it is. */
export function lifelines(sandbox: SandboxState, entries: readonly KeyEntry[]): Lifeline[] {
  const now = sandbox.clock.now();
  const lives = entries.map(({ key }) => ({ key, phases: pastPhases(key, now) }));

  // Only steps of the timeline change a sandbox by themselves.
  const isChanging = sandbox.timeline.next < sandbox.timeline.steps.length;
  const ahead = isChanging ? copyOf(sandbox, entries, now) : sandbox;
  let from = now;
  for (let steps = 0; from < never; steps++) {
    const stepAt = ahead.timeline.steps[ahead.timeline.next]?.at ?? never;
    // A step may be due since a moment ago.
    const until = stepAt <= lastClockInstant ? Math.max(stepAt, from) : never;
    for (const { key, phases } of lives) {
      if (steps <= maxSteps) addPhases(phases, ahead, ahead.registry.key(key.ref), from, until);
      else addPhase(phases, { ...unknown, from, until: never });
    }
    if (steps > maxSteps || until === never) break;

    ahead.clock.set(until);
    runDue(ahead);
    from = until;
  }
  return lives.map(({ key, phases }) => {
    const { ref, organization, replaces = null } = key;
    return { key: ref, organization, replaces, phases: phases.map(viewPhase) };
  });
}

/** A copy of a sandbox to move its clock and run its timeline. Nobody listens to it. */
function copyOf(sandbox: SandboxState, keys: readonly KeyEntry[], now: number): SandboxState {
  const owners = ownersOf(sandbox, keys);
  const registry = new Registry(owners.map(({ organization }) => organization));
  for (const owner of owners) {
    // Records and usage are replaced, not changed, unless a request is counted.
    for (const { key, usage } of owner.keys) registry.addKey(key, usage);
  }
  return {
    ...sandbox,
    registry,
    clock: new VirtualClock({ time: () => 0, start: now, frozen: true }),
    timeline: { ...sandbox.timeline },
    journal: new Journal(),
    behavior: new ClientBehavior(),
  };
}

/** The organizations that keys and the steps ahead are about: a copy of 100,000 keys would delay requests. */
function ownersOf({ registry, timeline }: SandboxState, keys: readonly KeyEntry[]): OrganizationEntry[] {
  const owners = new Set(keys.map(({ owner }) => owner));
  for (const { step } of timeline.steps.slice(timeline.next)) {
    // Such a step is rejected if it does not fit each key.
    const concernsAll = step.faults !== undefined || step.assumptions !== undefined;
    if (concernsAll) return [...registry.organizations.values()];

    const { key = "", newKey = "", organization = "" } = actionRefs(step);
    // A new key is rejected if another one has its ref.
    const concerned = [registry.keys.get(key)?.owner, registry.keys.get(newKey)?.owner];
    concerned.push(registry.organizations.get(organization));
    for (const owner of concerned) if (owner !== undefined) owners.add(owner);
  }
  return [...owners];
}

/** The life of a key before now: a key that has ended gets the same 401 since then. */
function pastPhases(key: KeyRecord, now: number): TimedPhase[] {
  const { endField, rejection } = keyStateTable[keyStateAt(key, now)];
  const from = key.createdAt ?? -never;
  // A key of a snapshot may have ended after now, if the clock was set back: it counts as ended all the same.
  const endedAt = Math.min((endField && key[endField]) ?? now, now);
  const phases: TimedPhase[] = [];
  if (from < endedAt) phases.push({ ...unknown, from, until: endedAt });
  if (endedAt < now) {
    phases.push({ from: endedAt, until: now, outcome: rejection, sure: true, faultShare: 0 });
  }
  return phases;
}

/** Adds the phases of a key between two steps of the timeline. */
function addPhases(
  phases: TimedPhase[],
  sandbox: SandboxState,
  entry: KeyEntry,
  start: number,
  end: number,
): void {
  let from = start;
  while (from < end) {
    const call: RoutedCall = { presented: "well_formed", entry, now: from, route: undefined, endpoint: me };
    const outcome = predictOutcome(sandbox, call);
    const faults = faultsAhead(sandbox.faults, call, me.method, outcome);
    const [first] = faults;
    const isHit = first?.isCertain === true;
    const isReplaced = isHit && !faultKindRow(first.outcome).onlyDelays;

    const until = Math.min(end, nextChange(sandbox, entry, from));
    addPhase(phases, {
      from,
      until,
      outcome: isReplaced ? first.outcome : outcome,
      sure: isHit || faults.length === 0,
      faultShare: shareWithFault(sandbox.faults, call, me.method, outcome),
    });
    from = until;
  }
}

/** Adds a phase; one with the same result as the one before it continues that. */
function addPhase(phases: TimedPhase[], phase: TimedPhase): void {
  const last = phases.at(-1);
  const isSame =
    last !== undefined &&
    last.outcome === phase.outcome &&
    last.sure === phase.sure &&
    last.faultShare === phase.faultShare &&
    // What a key got and what it will get differ, also if nobody knows either.
    phase.outcome !== null;
  if (isSame) last.until = phase.until;
  else phases.push(phase);
}

/** When the next request with a key may get another result, by time alone; infinite for never. */
function nextChange(sandbox: SandboxState, entry: KeyEntry, now: number): number {
  const { expiresAt = never, overlapEndsAt = never } = entry.key;
  const times = [expiresAt, overlapEndsAt];
  for (const { when } of sandbox.faults) times.push(when.after ?? never, when.until ?? never);

  // A limit matters if it is reached, or if the request itself reaches it and is counted. One of 0 never resets.
  const { minute, day } = limitUses(entry, sandbox.windows, now);
  for (const { quota, used, resetsAt } of [minute, day]) {
    if (quota > 0 && used > 0 && used + 1 >= quota) times.push(resetsAt);
  }

  let next = never;
  for (const at of times) {
    if (at > now && at < next) next = at;
  }
  // No clock gets further.
  return next <= lastClockInstant ? next : never;
}

/** A phase for display: an infinite time is none. */
function viewPhase({ from, until, outcome, sure, faultShare }: TimedPhase): Phase {
  return {
    from: Number.isFinite(from) ? isoTime(from) : null,
    until: Number.isFinite(until) ? isoTime(until) : null,
    outcome,
    sure,
    faultShare,
  };
}
