import type { Event, IsOver, KeyEnd, ListedKey, Request, ShownFault } from "../control/responses.js";
import { createAxis, type TimeAxis } from "./axis.js";
import { counted, percentText } from "./text.js";

// What keys got, get and will get: what is drawn of it, and the same in words. Instants are in epoch milliseconds.

const hour = 3_600_000;

/** As many dots fit next to each other in a narrow window. */
const maxDots = 40;

/** A retiring key works until its overlap ends. */
export const isOver: IsOver = { active: false, retiring: false, revoked: true, expired: true, rotated: true };

const keyEnds: Readonly<Record<KeyEnd, true>> = { revoked_at: true, expires_at: true, overlap_ends_at: true };

/** When a key ends or has ended: its revocation, else its first other end; `null` if it has none. */
export function keyEnd(key: ListedKey): string | null {
  if (key.revoked_at !== null) return key.revoked_at;
  let first: string | null = null;
  for (const name of Object.keys(keyEnds) as KeyEnd[]) {
    const end = key[name];
    if (end !== null && (first === null || end < first)) first = end;
  }
  return first;
}

/** A time as an instant; `undefined` if there is none. */
function toInstant(at: string | null | undefined): number | undefined {
  return at === null || at === undefined ? undefined : Date.parse(at);
}

/** What is known of some keys, and what their lifelines are drawn with. */
export interface Sight {
  readonly now: number;
  readonly keys: readonly ListedKey[];
  /** The requests of these keys, oldest first. */
  readonly requests: readonly Request[];
  /** What happens to these keys when the clock gets there, earliest first. */
  readonly events: readonly Event[];
  readonly faults: readonly ShownFault[];
  readonly axis: TimeAxis;
}

/** What is read of the sandbox. */
interface Readings {
  readonly requests: readonly Request[];
  readonly upcoming: readonly Event[];
  readonly faults: readonly ShownFault[];
}

/** Leaves only what concerns these keys, and makes its axis: from the first thing that is known of them to the last, an hour or more. */
export function createSight(keys: readonly ListedKey[], readings: Readings, now: number): Sight {
  const refs = new Set<string | null>(keys.map(({ ref }) => ref));
  const requests = readings.requests.filter(({ key }) => refs.has(key));
  const events = relevantEvents(keys, readings.upcoming, now);

  const stations = events.map(({ at }) => Date.parse(at));
  for (const key of keys) {
    for (const at of [toInstant(key.created_at), toInstant(keyEnd(key))]) {
      if (at !== undefined) stations.push(at);
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
  upcoming: readonly Event[],
  now: number,
): readonly Event[] {
  return upcoming.filter(({ at, kind, key }) => {
    // After a jump, the list contains past events until it is read again.
    if (Date.parse(at) <= now) return false;
    // One comes each minute: it matters if a key waits for it.
    if (kind === "minute_reset") return keys.some(({ next_request: next }) => next.until === at);
    return key === null || keys.some(({ ref }) => ref === key);
  });
}

/** At most so many of the keys, in their order: those that were used last, then those that end. */
export function chooseKeys(
  keys: readonly ListedKey[],
  requests: readonly Request[],
  max: number,
): readonly ListedKey[] {
  const sentRefs: readonly (string | null)[] = requests.map(({ key }) => key);
  // By the latest request, which is -1 for an unused key; an end decides between unused keys.
  const rank = (key: ListedKey) => sentRefs.lastIndexOf(key.ref) + (keyEnd(key) === null ? 0 : 0.5);
  const ranked = [...keys].sort((one, other) => rank(other) - rank(one));
  const chosen = new Set(ranked.slice(0, max));
  return keys.filter((key) => chosen.has(key));
}

/** A part of a life. */
export interface Phase {
  readonly from: number;
  readonly to: number;
  /** `barred`: rejected, but not for good. `open`: nobody knows what a request gets. */
  readonly course: "past" | "works" | "retiring" | "limited" | "barred" | "open" | "ended";
  /** What is written on it. */
  readonly words: string;
}

/** How long a key has been there, and what it gets from now on if nobody changes anything. */
export function lifePhases(key: ListedKey, sight: Sight): readonly Phase[] {
  const { now, axis } = sight;
  const { state, next_request: next } = key;
  // Nothing is known of how long a key of the scenario was there.
  const start = toInstant(key.created_at) ?? (axis.stations[0] as number);
  const last = axis.stations.at(-1) as number;
  const end = toInstant(keyEnd(key)) ?? last;

  const phases: Phase[] = [];
  const add = (from: number, to: number, course: Phase["course"], words = "") => {
    if (from < to) phases.push({ from, to, course, words });
  };
  if (isOver[state]) {
    add(start, end, "past");
    add(end, now, "ended");
    add(now, last, "ended", state);
    return phases;
  }

  add(start, now, "past");
  const knownUntil = Math.min(nextUnknown(key, sight), end);
  const works = state === "retiring" ? "retiring" : "works";
  // The reason has no room, and the axis has the time.
  const words = next.sentence.replace(/(: | until |, or |, later ).*/, "");
  const faultWords = faultsInWords(key, sight);
  if (faultWords !== undefined) {
    // In one line with the status, or not at all.
    add(now, knownUntil, "open", `${words} (${faultWords})`.replace(/ (?!\()/g, "\u00A0"));
  } else if (next.status === 429) {
    const reset = Math.min(toInstant(next.until) ?? knownUntil, knownUntil);
    add(now, reset, "limited", words);
    add(reset, knownUntil, works);
  } else if (next.status === 200) {
    add(now, knownUntil, works, state === "active" ? "works" : `works (${state})`);
  } else {
    add(now, knownUntil, "barred", words);
  }
  add(knownUntil, end, "open");
  add(end, last, "ended");
  return phases;
}

/** When the timeline next does something to a key or its organization, or a fault begins or ends; infinite for never. */
function nextUnknown({ ref, organization }: ListedKey, { events }: Sight): number {
  const changing = ["timeline_step", "fault_begins", "fault_ends"];
  const next = events.find((event) => {
    if (!changing.includes(event.kind)) return false;
    if (event.key !== null) return event.key === ref;
    if (event.organization !== null) return event.organization === organization;
    // Such a step of the timeline changes no key, such a fault hits each.
    return event.kind !== "timeline_step";
  });
  return toInstant(next?.at) ?? Number.POSITIVE_INFINITY;
}

/** How many of the next requests with a key get a fault: `30% get a fault`; `undefined` for none. */
function faultsInWords(key: ListedKey, { faults, now }: Sight): string | undefined {
  let spared = 1;
  for (const fault of faults) {
    const { when = {}, requests_matched: matched = 0 } = fault;
    if (!isFor(key, when, now)) continue;

    const { requests, every = 1, probability = 1 } = when;
    // It hits requests with these numbers, counted from the first.
    if (requests?.some((nth) => nth > matched)) return "some get a fault";
    if (requests === undefined) spared *= 1 - probability / every;
  }
  if (spared === 1) return undefined;
  return spared === 0 ? "all get a fault" : `${percentText(1 - spared)} get a fault`;
}

/** Whether the condition of a fault now matches the next request with a key. */
function isFor(key: ListedKey, when: NonNullable<ShownFault["when"]>, now: number): boolean {
  if (when.key !== undefined && when.key !== key.ref) return false;
  if (when.organization !== undefined && when.organization !== key.organization) return false;
  if (when.outcome !== undefined && when.outcome !== key.next_request.outcome) return false;
  if (when.after !== undefined && now < Date.parse(when.after)) return false;
  return when.until === undefined || now < Date.parse(when.until);
}

/** A key's lifeline in words, after its name: `retiring, gets 200, ends 2 March 2026, 09:30, 2 requests`. */
export function lifeSentence(key: ListedKey, requests: readonly Request[]): string {
  const { state, next_request: next } = key;
  const parts = [state, `gets ${next.sentence}`];
  const end = keyEnd(key);
  if (end !== null) {
    const day = new Date(end).toLocaleDateString("en-GB", { dateStyle: "long", timeZone: "UTC" });
    parts.push(`${isOver[state] ? "ended" : "ends"} ${day}, ${end.slice(11, 16)}`);
  }
  parts.push(counted(requests.length, "request"));
  return parts.join(", ");
}

/** Requests of one key that are alike, and too close to be told apart. */
export interface Dot {
  readonly position: number;
  readonly outcome: string;
  readonly count: number;
  /** The number of other dots at the same position, with newer requests. */
  readonly newer: number;
}

/** The dots of a key's requests, which are oldest first. */
export function groupIntoDots(requests: readonly Request[], { positionOf }: TimeAxis): readonly Dot[] {
  const dots: { position: number; outcome: string; count: number; newer: number }[] = [];
  for (const { at, outcome } of requests) {
    const position = positionOf(Date.parse(at));
    const near = dots.filter((dot) => Math.abs(dot.position - position) < 1 / maxDots);
    // Alike if the start of the outcome is: a status, or a fault.
    const same = near.find((dot) => dot.outcome.slice(0, 3) === outcome.slice(0, 3));
    if (same !== undefined) same.count += 1;
    else {
      for (const older of near) older.newer += 1;
      dots.push({ position, outcome, count: 1, newer: 0 });
    }
  }
  return dots;
}
