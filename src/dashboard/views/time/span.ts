import type { Shown } from "../../control/responses.js";
import { firstEndOf, hasEnded } from "../../elements/key-state.js";

type Event = Shown<"Upcoming">;
type Key = Shown<"ListedKey">;

/** The part of time that the axis shows, in epoch milliseconds. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The span from now until after all coming events, at least an hour. */
export function spanOf(now: number, coming: readonly Event[]): Span {
  const last = Math.max(...coming.filter(({ kind }) => !isReset(kind)).map(({ at }) => Date.parse(at)), now);
  return { start: now, end: now + Math.max(hour, (last - now) * 1.1) };
}

/** Whether an event is the reset of a limit, which happens every minute or day. */
export function isReset(kind: Event["kind"]): boolean {
  return kind === "minute_reset" || kind === "day_reset";
}

interface Tick {
  readonly at: number;
  readonly label: string;
}

const steps = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 30, 90, 180].map((count) => count * day),
];

/** At most `most` ticks of a span, at round times. */
export function ticksIn({ start, end }: Span, most: number): Tick[] {
  const least = (end - start) / Math.max(1, most);
  const year = 365 * day;
  const step = steps.find((length) => length >= least) ?? Math.ceil(least / year) * year;
  const ticks = [];
  for (let at = Math.ceil(start / step) * step; at <= end; at += step)
    ticks.push({ at, label: labelOf(at, step) });
  return ticks;
}

const timeOfDay = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hour: "2-digit", minute: "2-digit" });
const dayOfMonth = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short" });
const monthOfYear = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", month: "short", year: "numeric" });

function labelOf(at: number, step: number): string {
  if (step >= 30 * day) return monthOfYear.format(at);
  return (at % day === 0 ? dayOfMonth : timeOfDay).format(at);
}

/** The keys in the order of their lanes: keys with the earliest events, keys without events, then ended keys. */
export function inOrderOfEvents(keys: readonly Key[], coming: readonly Event[]): Key[] {
  const firsts = new Map<string, number>();
  for (const { key, at } of coming) {
    if (key !== null && !firsts.has(key)) firsts.set(key, Date.parse(at));
  }
  const rank = (key: Key): readonly [group: number, order: number] => {
    const next = firsts.get(key.ref);
    if (next !== undefined) return [0, next];
    if (!hasEnded(key)) return [1, 0];
    return [2, -Date.parse(firstEndOf(key) ?? "1970-01-01T00:00:00Z")];
  };
  return keys
    .map((key) => ({ key, rank: rank(key) }))
    .sort((one, other) => one.rank[0] - other.rank[0] || one.rank[1] - other.rank[1])
    .map(({ key }) => key);
}
