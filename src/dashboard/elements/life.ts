import type { Event, IsOver, KeyEnd, ListedKey, Request } from "../control/responses.js";

// The lives of keys as a picture: instants in epoch milliseconds, and places from 0 (left) to 1 (right). The axis is not
// even. It goes through stations, which are the instants with a name: ends of keys, and what the clock will do.

const hour = 3_600_000;

/** As many stations have room for their names in a narrow window. */
const maxStations = 6;

/** The part of the width that all gaps between stations share equally, so that no names overlap. */
const evenPart = 0.75;

/** As many dots fit next to each other in a narrow window. */
const maxDots = 40;

/** A retiring key works until its overlap ends. */
export const isOver: IsOver = { active: false, retiring: false, revoked: true, expired: true, rotated: true };

const keyEnds: Readonly<Record<KeyEnd, true>> = { revoked_at: true, expires_at: true, overlap_ends_at: true };

/** When a key ends or has ended: its revocation, else its first other end; `null` if it has none. */
export function keyEnd(key: ListedKey): string | null {
  const ends = (Object.keys(keyEnds) as KeyEnd[]).flatMap((end) => key[end] ?? []); // its own names
  return key.revoked_at ?? ends.sort()[0] ?? null;
}

/** A time as an instant; `undefined` if it is missing. */
const toInstant = (at: string | null | undefined) => Date.parse(at ?? "") || undefined;

/** What happens to the keys when the clock gets there, earliest first. */
export function relevantEvents(keys: readonly ListedKey[], upcoming: readonly Event[], now: number) {
  return upcoming.filter(({ at, kind, key }) => {
    // After a jump, the list contains past events until it is read again.
    if (Date.parse(at) <= now) return false;
    // One comes each minute: it matters if a key waits for it.
    if (kind === "minute_reset") return keys.some(({ next_request: next }) => next.until === at);
    return key === null || keys.some(({ ref }) => ref === key);
  });
}

/** An axis of time. */
export interface TimeAxis {
  /** The instants with a name, earliest first: two or more. */
  readonly stations: readonly number[];
  readonly placeOf: (at: number) => number;
}

/** The axis from the first thing that is known of the keys to the last: an hour or more. */
export function createAxis(
  keys: readonly ListedKey[],
  events: readonly Event[],
  requests: readonly Request[],
  now: number,
): TimeAxis {
  const ends = keys.flatMap((key) => toInstant(keyEnd(key)) ?? []);
  const named = [...ends, ...events.map(({ at }) => Date.parse(at))];
  const thisHour = Math.floor(now / hour) * hour;
  const first = Math.min(...ends, ...requests.map(({ at }) => Date.parse(at)), thisHour);
  const last = Math.max(...named, first + hour);
  return axisThroughInstants([first, ...named, last], now);
}

/** How far apart two instants seem to be, forwards or (negative) backwards: a day farther than a minute, but not 1,440 times as far. */
const distance = (from: number, to: number) =>
  Math.sign(to - from) * Math.log1p(Math.abs(to - from) / 10_000);

/**
 * An axis on which a minute and a year can both be read, as on the plan of a metro: the stations stand still while the clock
 * moves from one to the next. In a gap, what is far from now is close together.
 */
export function axisThroughInstants(named: readonly number[], now: number): TimeAxis {
  const stations = chooseStations(named, now);
  const gaps = stations.slice(1).map((to, index) => ({ from: stations[index] as number, to }));
  let sum = 0;
  for (const { from, to } of gaps) sum += distance(from, to);

  // Of the gap in which the instant is, only the part up to it counts.
  const placeOf = (at: number) => {
    let place = 0;
    for (const { from, to } of gaps) {
      if (at <= from) break;
      const width = evenPart / gaps.length + ((1 - evenPart) * distance(from, to)) / sum;
      const toStart = distance(now, from);
      place += (width * (distance(now, Math.min(at, to)) - toStart)) / (distance(now, to) - toStart);
    }
    return place;
  };
  return { stations, placeOf };
}

/** Each instant once, earliest first. If there are too many, of those that are close together as seen from now only the first. */
function chooseStations(named: readonly number[], now: number): readonly number[] {
  const sorted = [...new Set(named)].sort((one, other) => one - other);
  const end = sorted.at(-1) as number;
  let chosen = sorted;
  // The least distance grows until so few are left.
  for (let least = 0.1; chosen.length > maxStations; least *= 1.3) {
    chosen = [];
    for (const at of sorted) {
      const last = chosen.at(-1) ?? Number.NEGATIVE_INFINITY;
      if (distance(now, at) - distance(now, last) >= least && at !== end) chosen.push(at);
    }
    // The axis always ends with the last event.
    chosen.push(end);
  }
  return chosen;
}

/** A part of a life. */
interface Phase {
  readonly from: number;
  readonly to: number;
  /** `barred`: rejected, but not for good. `open`: a step of the timeline may have changed it by then. */
  readonly course: "past" | "works" | "retiring" | "limited" | "barred" | "open" | "ended";
  /** What is written on it. */
  readonly words: string;
}

interface Bounds {
  readonly now: number;
  /** When the key began, as far as it is known. */
  readonly start: number;
  /** When a step of the timeline may change what the key gets. */
  readonly step: number | undefined;
  /** The end of the picture. */
  readonly last: number;
}

/** How long a key has been there, and what it gets from now on if nobody changes anything. */
export function lifePhases(key: ListedKey, { now, start, step, last }: Bounds): readonly Phase[] {
  const { state, next_request: next } = key;
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

  // What the next request gets holds until a step of the timeline, and a limit until its reset.
  add(start, now, "past");
  const known = Math.min(step ?? end, end);
  const reset = Math.min(toInstant(next.until) ?? known, known);
  const works = state === "retiring" ? "retiring" : "works";
  // The reason has no room, and the axis has the time. A key that simply works needs no words.
  const words = next.sentence.replace(/(: | until ).*|^200$/, "");
  if (next.status === 429) {
    add(now, reset, "limited", words);
    add(reset, known, works);
  } else if (next.status === 200) add(now, known, works, words || state.replace("active", ""));
  else add(now, known, "barred", words);
  add(known, end, "open");
  add(end, last, "ended");
  return phases;
}

/** At most so many of the keys, in their order: those that were used last, then those that end. */
export function chooseKeys(keys: readonly ListedKey[], requests: readonly Request[], max: number) {
  const sent: readonly (string | null)[] = requests.map(({ key }) => key);
  // By the latest request, which is -1 for an unused key; an end decides between unused keys.
  const rank = (key: ListedKey) => sent.lastIndexOf(key.ref) + (keyEnd(key) === null ? 0 : 0.5);
  const ranked = [...keys].sort((one, other) => rank(other) - rank(one));
  const chosen = new Set(ranked.slice(0, max));
  return keys.filter((key) => chosen.has(key));
}

/** When the timeline next does something to a key or its organization. */
export function nextStep({ ref, organization }: ListedKey, events: readonly Event[]): number | undefined {
  const step = events.find(
    ({ kind, key, organization: of }) =>
      kind === "timeline_step" && (key === ref || (key === null && of === organization)),
  );
  return toInstant(step?.at);
}

/** When a key that replaces another one began, at the latest; `undefined` for others, of which nothing is known. */
export function keyStart(
  key: ListedKey,
  keys: readonly ListedKey[],
  requests: readonly Request[],
  now: number,
) {
  if (key.replaces === null) return undefined;
  const replaced = keys.find(({ ref }) => ref === key.replaces);
  const sent = requests.find((request) => request.key === key.ref);
  const ends = replaced && toInstant(keyEnd(replaced));
  return Math.min(now, ends ?? now, toInstant(sent?.at) ?? now);
}

/** Requests of one key that are alike, and too close to be told apart. */
interface Dot {
  readonly place: number;
  readonly outcome: string;
  readonly count: number;
  /** The number of other dots at the same place, with newer requests. */
  readonly newer: number;
}

/** The dots of a key's requests, which are oldest first. */
export function groupIntoDots(requests: readonly Request[], { placeOf }: TimeAxis): readonly Dot[] {
  const dots: { place: number; outcome: string; count: number; newer: number }[] = [];
  for (const { at, outcome } of requests) {
    const place = placeOf(Date.parse(at));
    const near = dots.filter((dot) => Math.abs(dot.place - place) < 1 / maxDots);
    // Alike if the start of the outcome is: a status, or a fault.
    const same = near.find((dot) => dot.outcome.slice(0, 3) === outcome.slice(0, 3));
    if (same !== undefined) same.count += 1;
    else {
      for (const older of near) older.newer += 1;
      dots.push({ place, outcome, count: 1, newer: 0 });
    }
  }
  return dots;
}
