import type { ListedKey, ShownFault, ShownRequest, UpcomingEvent } from "../control/responses.js";
import { createAxis, type TimeAxis } from "./axis.js";
import { keyEnd } from "./key-life.js";

// Instants are in epoch milliseconds.

const hour = 3_600_000;

/** What the lifelines of some keys are drawn from. */
export interface LifelineData {
  readonly now: number;
  readonly keys: readonly ListedKey[];
  /** The requests of these keys, oldest first. */
  readonly requests: readonly ShownRequest[];
  /** What happens to these keys when the clock gets there, earliest first. */
  readonly events: readonly UpcomingEvent[];
  readonly faults: readonly ShownFault[];
  readonly axis: TimeAxis;
}

/** What is read of the sandbox, of all its keys. */
interface Readings {
  readonly requests: readonly ShownRequest[];
  readonly upcoming: readonly UpcomingEvent[];
  readonly faults: readonly ShownFault[];
}

/** Selects what concerns these keys. The axis goes from the first thing that is known of them to the last: an hour or more. */
export function selectLifelineData(
  keys: readonly ListedKey[],
  readings: Readings,
  now: number,
): LifelineData {
  const refs = new Set<string | null>(keys.map(({ ref }) => ref));
  const requests = readings.requests.filter(({ key }) => refs.has(key));
  const events = relevantEvents(keys, readings.upcoming, now);

  const stations = events.map(({ at }) => Date.parse(at));
  for (const key of keys) {
    for (const at of [key.created_at, keyEnd(key)]) {
      if (at !== null) stations.push(Date.parse(at));
    }
  }
  const thisHour = Math.floor(now / hour) * hour;
  const first = Math.min(thisHour, ...stations, ...requests.map(({ at }) => Date.parse(at)));
  const last = Math.max(thisHour + hour, ...stations);
  const axis = createAxis([first, ...stations, last], now);
  return { now, keys, requests, events, faults: readings.faults, axis };
}

/** What happens to the keys when the clock gets there, earliest first. */
function relevantEvents(
  keys: readonly ListedKey[],
  upcoming: readonly UpcomingEvent[],
  now: number,
): readonly UpcomingEvent[] {
  return upcoming.filter(({ at, kind, key }) => {
    // After a jump, the list contains past events until it is read again.
    if (Date.parse(at) <= now) return false;
    // Each minute ends: that matters if a key waits for it.
    if (kind === "minute_reset") return keys.some(({ next_request: next }) => next.until === at);
    return key === null || keys.some(({ ref }) => ref === key);
  });
}

/** At most so many of the keys, in their order: those that were used last, then those that end. */
export function chooseKeys(
  keys: readonly ListedKey[],
  requests: readonly ShownRequest[],
  max: number,
): readonly ListedKey[] {
  const sentRefs: readonly (string | null)[] = requests.map(({ key }) => key);
  /** The place of its last request among the requests, oldest first; -1 for an unused key. */
  const lastUse = (key: ListedKey) => sentRefs.lastIndexOf(key.ref);
  const hasEnd = (key: ListedKey) => Number(keyEnd(key) !== null);
  const ranked = [...keys].sort((one, other) => lastUse(other) - lastUse(one) || hasEnd(other) - hasEnd(one));
  const chosen = new Set(ranked.slice(0, max));
  return keys.filter((key) => chosen.has(key));
}
