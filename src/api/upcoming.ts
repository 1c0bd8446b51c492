import { faultOutcomeId } from "../rules/fault-effects.js";
import { endStateOf, endTime, lastClockInstant } from "../rules/key-state.js";
import { dayEnd, isoTime, minuteEnd } from "../rules/time.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { keyRefsOf } from "../sandbox/steps.js";
import type { Upcoming } from "../sandbox/views.js";
import { actionName, actionRefs } from "../scenario/actions.js";

/** An event by which a sandbox changes on its own. */
export interface ClockEvent extends Partial<Pick<Upcoming, "key" | "organization" | "step">> {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: Upcoming["kind"];
  readonly text: string;
}

const maxUpcoming = 100;

/** Lists at most 100 events that happen without an action, earliest first, up to the last instant of the clock. */
export function listUpcoming(sandbox: SandboxState): Upcoming[] {
  const now = sandbox.clock.now();
  const upcoming = clockEvents(sandbox, now).filter(({ at }) => at > now && at <= lastClockInstant);
  upcoming.sort((before, after) => before.at - after.at);
  const nothing = { key: null, organization: null, step: null };
  return upcoming
    .slice(0, maxUpcoming)
    .map(({ at, ...event }) => ({ ...nothing, ...event, at: isoTime(at) }));
}

/** Returns the next instant (epoch milliseconds) when time alone changes something; infinite for none. */
export function nextChangeAt(sandbox: SandboxState): number {
  const now = sandbox.clock.now();
  let next = Number.POSITIVE_INFINITY;
  for (const { at } of clockEvents(sandbox, now)) {
    if (at > now && at < next) next = at;
  }
  return next;
}

/** All events by which a sandbox changes on its own; some are over. `entries`: the keys whose ends are among them. Default: all. */
export function clockEvents(
  sandbox: SandboxState,
  now: number,
  entries: Iterable<KeyEntry> = sandbox.registry.keys.values(),
): ClockEvent[] {
  const resets = [
    { at: minuteEnd(now), kind: "minute_reset", text: "The limits per minute reset" },
    { at: dayEnd(now), kind: "day_reset", text: "The limits per day reset" },
  ] as const;
  return [...keyEvents(entries), ...resets, ...timelineEvents(sandbox), ...faultEvents(sandbox)];
}

function keyEvents(entries: Iterable<KeyEntry>): ClockEvent[] {
  const events: ClockEvent[] = [];
  for (const { key } of entries) {
    const { ref, organization } = key;
    const end = endStateOf(key);
    const ofKey = { key: ref, organization, at: endTime(key, end) };
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
      events.push({ key, organization, at: after, kind: "fault_begins", text: `${outcome} begins` });
    }
    if (until !== undefined) {
      events.push({ key, organization, at: until, kind: "fault_ends", text: `${outcome} ends` });
    }
  }
  return events;
}
