import type {
  IsOver,
  KeyEnd,
  ListedKey,
  ShownFault,
  ShownRequest,
  UpcomingEvent,
} from "../control/responses.js";
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
  // -1 for an unused key.
  const lastUse = (key: ListedKey) => sentRefs.lastIndexOf(key.ref);
  const hasEnd = (key: ListedKey) => Number(keyEnd(key) !== null);
  const ranked = [...keys].sort((one, other) => lastUse(other) - lastUse(one) || hasEnd(other) - hasEnd(one));
  const chosen = new Set(ranked.slice(0, max));
  return keys.filter((key) => chosen.has(key));
}

/** A part of a life. */
export interface Phase {
  readonly from: number;
  readonly to: number;
  /** `rejected`: but not for good. `unknown`: nobody knows what a request gets. */
  readonly kind: "past" | "works" | "retiring" | "limited" | "rejected" | "unknown" | "ended";
  /** What is written on it. */
  readonly words: string;
}

/** How long a key has been there, and what it gets from now on if nobody changes anything. */
export function lifePhases(key: ListedKey, data: LifelineData): readonly Phase[] {
  const { now, axis } = data;
  const { state } = key;
  // Nothing is known of how long a key of the scenario was there.
  const start = toInstant(key.created_at) ?? (axis.stations[0] as number);
  const last = axis.stations.at(-1) as number;
  const end = toInstant(keyEnd(key)) ?? last;

  const phases: Phase[] = [];
  if (isOver[state]) {
    phases.push({ from: start, to: end, kind: "past", words: "" });
    phases.push({ from: end, to: now, kind: "ended", words: "" });
    phases.push({ from: now, to: last, kind: "ended", words: state });
  } else {
    const changesAt = Math.min(nextChange(key, data.events) ?? end, end);
    phases.push({ from: start, to: now, kind: "past", words: "" });
    phases.push(...nextPhases(key, data, changesAt));
    phases.push({ from: changesAt, to: end, kind: "unknown", words: "" });
    phases.push({ from: end, to: last, kind: "ended", words: "" });
  }
  // A phase without a length is none: a key that never ends has no `ended`.
  return phases.filter(({ from, to }) => from < to);
}

/** What a key that is not over gets from now until something may change it. */
function nextPhases(key: ListedKey, data: LifelineData, changesAt: number): readonly Phase[] {
  const from = data.now;
  const { state, next_request: next } = key;
  const words = resultWords(next);
  const faultWords = faultsInWords(key, data);
  if (faultWords !== undefined) {
    // The faults are in one line with the result, or not shown.
    const bothWords = `${unbroken(words)} (${unbroken(faultWords)})`;
    return [{ from, to: changesAt, kind: "unknown", words: bothWords }];
  }

  const working = state === "retiring" ? "retiring" : "works";
  if (next.status === 200) {
    const workingWords = state === "active" ? "works" : `works (${state})`;
    return [{ from, to: changesAt, kind: working, words: workingWords }];
  }
  if (next.status === 429) {
    const reset = Math.min(toInstant(next.until) ?? changesAt, changesAt);
    return [
      { from, to: reset, kind: "limited", words },
      { from: reset, to: changesAt, kind: working, words: "" },
    ];
  }
  return [{ from, to: changesAt, kind: "rejected", words }];
}

const unbroken = (words: string) => words.replaceAll(" ", "\u00A0");

/** The result of a request in as few words as a bar has room for: `403 access_denied`, `429`. */
function resultWords({ status, code, until }: ListedKey["next_request"]): string {
  if (status === 403) return `403 ${code}`;
  if (status === 429 && until === null) return "429 always";
  return `${status}`;
}

/** When the timeline next changes a key or its organization, or a fault that may hit the key begins or ends; `undefined` for never. */
function nextChange(key: ListedKey, events: readonly UpcomingEvent[]): number | undefined {
  return toInstant(events.find((event) => mayChange(key, event))?.at);
}

function mayChange({ ref, organization }: ListedKey, event: UpcomingEvent): boolean {
  const isStep = event.kind === "timeline_step";
  const isFault = event.kind === "fault_begins" || event.kind === "fault_ends";
  if (!isStep && !isFault) return false;
  if (event.key !== null) return event.key === ref;
  if (event.organization !== null) return event.organization === organization;
  // A fault without a key and an organization hits every key; such a step changes none.
  return isFault;
}

/** How many of the next requests with a key get a fault: `30% get a fault`; `undefined` for none. */
function faultsInWords(key: ListedKey, { faults, now }: LifelineData): string | undefined {
  let shareWithoutFault = 1;
  for (const fault of faults) {
    const { when = {}, requests_matched: matched = 0 } = fault;
    if (!matchesNextRequest(key, when, now)) continue;

    const { requests, every = 1, probability = 1 } = when;
    if (requests === undefined) shareWithoutFault *= 1 - probability / every;
    // The numbers of the requests that it hits, counted from its first match.
    else if (requests.some((nth) => nth > matched)) return "some get a fault";
  }
  if (shareWithoutFault === 1) return undefined;
  if (shareWithoutFault === 0) return "all get a fault";
  return `${percentText(1 - shareWithoutFault)} get a fault`;
}

/** Whether the condition of a fault now matches the next request with a key. */
function matchesNextRequest(key: ListedKey, when: NonNullable<ShownFault["when"]>, now: number): boolean {
  if (when.key !== undefined && when.key !== key.ref) return false;
  if (when.organization !== undefined && when.organization !== key.organization) return false;
  if (when.outcome !== undefined && when.outcome !== key.next_request.outcome) return false;
  if (when.after !== undefined && now < Date.parse(when.after)) return false;
  return when.until === undefined || now < Date.parse(when.until);
}

/** A key's lifeline in words, after its name: `retiring, gets 200, ends 2 March 2026, 09:30, 2 requests`. */
export function lifeSentence(key: ListedKey, requests: readonly ShownRequest[]): string {
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
export function groupIntoDots(requests: readonly ShownRequest[], { positionOf }: TimeAxis): readonly Dot[] {
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
