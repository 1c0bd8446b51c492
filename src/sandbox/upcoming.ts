import { actionIn, refsIn } from "../rules/actions.js";
import { firstEndOf, type KeyEnds, lastClockInstant } from "../rules/api-key.js";
import { faultOutcomeOf } from "../rules/fault-effects.js";
import { dayEnd, isoOf, minute, minuteEnd } from "../rules/time.js";
import { withoutOver } from "./registry.js";
import type { SandboxState } from "./sandbox-state.js";
import { keyRefsOf } from "./step-results.js";
import type { Upcoming } from "./view-shapes.js";

interface Coming extends Partial<Pick<Upcoming, "key" | "organization" | "step">> {
  readonly at: number | undefined;
  readonly kind: Upcoming["kind"];
  readonly text: string;
}

const max = 100;

/** Lists at most 100 events that happen without an action, earliest first, up to the last instant of the clock. */
export function listUpcoming(sandbox: SandboxState): Upcoming[] {
  const now = sandbox.clock.now();
  return comingAfter(sandbox, now)
    .flatMap(({ at = Number.POSITIVE_INFINITY, ...one }) =>
      at > now && at <= lastClockInstant ? { ...one, at } : [],
    )
    .sort((one, other) => one.at - other.at)
    .slice(0, max)
    .map(({ at, ...one }) => ({ key: null, organization: null, step: null, ...one, at: isoOf(at) }));
}

/** Returns the next instant (epoch milliseconds) when time alone changes something; infinite for none. */
export function nextChangeAt(sandbox: SandboxState): number {
  const now = sandbox.clock.now();
  const times = [...comingAfter(sandbox, now).map(({ at }) => at), ...countsEnd(sandbox, now)];
  return times.reduce<number>(
    (next, at = next) => (at > now && at < next ? at : next),
    Number.POSITIVE_INFINITY,
  );
}

function comingAfter(sandbox: SandboxState, now: number): Coming[] {
  return [
    ...keyEvents(sandbox, now),
    ...resets(sandbox, now),
    ...timelineEvents(sandbox),
    ...faultEvents(sandbox),
  ];
}

// In a sliding minute, each request stops counting on its own.
function countsEnd({ registry, windows }: SandboxState, now: number): (number | undefined)[] {
  if (!windows.sliding) return [];
  return [...registry.keys.values()].map(({ usage: { recent } }) => {
    const counted = recent.find((at) => at + minute > now);
    return counted && counted + minute;
  });
}

interface EndEvent extends Pick<Coming, "kind"> {
  readonly textOf: (ref: string) => string;
}

/** The event of each time that ends a key; none for one that is never in the future. */
const eventOfEnd: Readonly<Record<keyof KeyEnds, EndEvent | undefined>> = {
  revokedAt: undefined,
  expiresAt: { kind: "key_expires", textOf: (ref) => `Key ${ref} expires` },
  overlapEndsAt: { kind: "overlap_ends", textOf: (ref) => `Overlap of ${ref} ends: it stops working` },
};

function keyEvents({ registry }: SandboxState, now: number): Coming[] {
  return withoutOver(registry.dated, now).flatMap(({ key }): Coming[] => {
    const { ref, organization } = key;
    // A key stops working once, at the earliest instant.
    const end = firstEndOf(key);
    if (end === undefined) return [];
    const event = eventOfEnd[end];
    if (event === undefined) return [];
    return [{ key: ref, organization, at: key[end], kind: event.kind, text: event.textOf(ref) }];
  });
}

function resets({ windows: { sliding, dayResetsAt } }: SandboxState, now: number): Coming[] {
  return [
    {
      // A sliding minute never resets.
      at: sliding ? undefined : minuteEnd(now),
      kind: "minute_reset",
      text: "The limits per minute reset",
    },
    { at: dayEnd(now, dayResetsAt), kind: "day_reset", text: "The limits per day reset" },
  ];
}

function timelineEvents({ timeline: { steps, next } }: SandboxState): Coming[] {
  return steps.slice(next).map(({ at, step }, index) => ({
    at,
    kind: "timeline_step",
    step: next + index + 1,
    key: keyRefsOf(step).key,
    organization: refsIn(step).organization ?? null,
    text: `Step ${next + index + 1} of the timeline: ${actionIn(step) ?? "nothing"}`,
  }));
}

function faultEvents({ faults }: SandboxState): Coming[] {
  return faults.flatMap(({ when, effect }): Coming[] => {
    const { after, until, key = null, organization = null } = when;
    const outcome = faultOutcomeOf(effect);
    return [
      { key, organization, at: after, kind: "fault_begins", text: `${outcome} begins` },
      { key, organization, at: until, kind: "fault_ends", text: `${outcome} ends` },
    ];
  });
}
