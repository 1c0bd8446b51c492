import { faultKindRow } from "../rules/fault-effects.js";
import { type KeyRecord, keyStateAt, keyStateTable, lastClockInstant } from "../rules/key-state.js";
import type { OutcomeId } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import type { RoutedCall } from "../sandbox/call.js";
import { faultsAhead } from "../sandbox/faults.js";
import { ClientHistory } from "../sandbox/journal/client-history.js";
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
// Nothing here decides what a request gets: at each time at which that may change, the same prediction is made as for `nextRequest`.

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

/** The steps of a timeline that are looked at. Each of them may change what every key gets. */
const maxSteps = 100;

const never = Number.POSITIVE_INFINITY;

/** What requests get from a time on (epoch milliseconds), until the next one. Infinite where the time is unknown. */
interface Result extends Pick<Phase, "outcome" | "sure" | "mayFault"> {
  readonly from: number;
}

/** The result of a request where nobody knows it. */
const unknown = { outcome: null, sure: false, mayFault: false } as const;

/** The lives of these keys of a sandbox, which stays as it is. */
export function lifelines(sandbox: SandboxState, entries: readonly KeyEntry[]): Lifeline[] {
  const now = sandbox.clock.now();
  const lives = entries.map(({ key }) => ({ key, results: pastResults(key, now) }));

  // Only steps of the timeline change a sandbox by themselves. Between two of them, only time passes.
  const ahead = copyOf(sandbox, entries);
  const { steps, next } = sandbox.timeline;
  const times = [now];
  for (const { at } of steps.slice(next, next + maxSteps)) {
    // A step may be due since a moment ago. No clock gets to one after the last instant.
    if (at > now && at <= lastClockInstant) times.push(at);
  }
  const unknownFrom = steps[next + maxSteps]?.at ?? never;
  for (const [index, from] of times.entries()) {
    runDue(ahead, from);
    const until = times[index + 1] ?? unknownFrom;
    for (const { key, results } of lives) {
      results.push(...resultsBetween(from, until, ahead, ahead.registry.key(key.ref)));
    }
  }

  return lives.map(({ key, results }) => {
    if (unknownFrom <= lastClockInstant) results.push({ ...unknown, from: unknownFrom });
    const { ref, organization, replaces = null } = key;
    return { key: ref, organization, replaces, phases: phasesOf(results) };
  });
}

/** A copy of a sandbox to run its timeline. Nobody listens to it. */
function copyOf(sandbox: SandboxState, keys: readonly KeyEntry[]): SandboxState {
  const owners = ownersOf(sandbox, keys);
  const registry = new Registry(owners.map(({ organization }) => organization));
  for (const owner of owners) {
    // Records and usage are replaced, not changed, unless a request is counted.
    for (const { key, usage } of owner.keys) registry.addKey(key, usage);
  }
  const timeline = { ...sandbox.timeline };
  return { ...sandbox, registry, timeline, journal: new Journal(), history: new ClientHistory() };
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
function pastResults(key: KeyRecord, now: number): Result[] {
  const { endField, rejection } = keyStateTable[keyStateAt(key, now)];
  const results: Result[] = [{ ...unknown, from: key.createdAt ?? -never }];
  const endedAt = (endField && key[endField]) ?? now;
  if (endedAt < now) results.push({ from: endedAt, outcome: rejection, sure: true, mayFault: false });
  return results;
}

/** What requests with a key get between two steps of the timeline, at each time at which that may change. */
function resultsBetween(start: number, end: number, sandbox: SandboxState, entry: KeyEntry): Result[] {
  const results: Result[] = [];
  let from = start;
  while (from < end) {
    const call: RoutedCall = { presented: "well_formed", entry, now: from, route: undefined, endpoint: me };
    const outcome = predictOutcome(sandbox, call);
    const faults = faultsAhead(sandbox.faults, call, me.method, outcome);
    const [first] = faults;
    const isHit = first?.isCertain === true;
    const isReplaced = isHit && !faultKindRow(first.outcome).onlyDelays;
    results.push({
      from,
      outcome: isReplaced ? first.outcome : outcome,
      sure: isHit || first === undefined,
      mayFault: first !== undefined,
    });
    from = nextChange(sandbox, entry, from);
  }
  return results;
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

  // No clock gets further than its last instant.
  const ahead = times.filter((at) => at > now && at <= lastClockInstant);
  return Math.min(never, ...ahead);
}

/** The phases of a life: results that follow each other and are the same are one phase. */
function phasesOf(results: readonly Result[]): Phase[] {
  const changes: Result[] = [];
  for (const [index, result] of results.entries()) {
    const { from, outcome, sure, mayFault } = result;
    const isOver = (results[index + 1]?.from ?? never) <= from;
    const before = changes.at(-1);
    const isSame = before?.outcome === outcome && before.sure === sure && before.mayFault === mayFault;
    // What a key got and what it will get differ, also if nobody knows either.
    if (!isOver && !(isSame && outcome !== null)) changes.push(result);
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
