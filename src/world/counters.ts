import { type AdviceId, adviceIds } from "../domain/advice.js";
import type { Assumptions } from "../domain/assumptions.js";
import { day, dayStart, minute, minuteStart, timeOfDay } from "../domain/limits.js";
import { outcomeOf, outcomes, type PathId } from "../domain/outcomes.js";
import type { Exchange } from "../history/exchange.js";

// All that is counted: requests by path and advice, for the report; and the usage of each key, for its limits.

/** A key as it may be shown: its ref, when it is one of the world, and its fingerprint (R46). */
export type ShownKey = Pick<Exchange, "key" | "fingerprint">;

/**
 * A request that earned an advice; holds no key (R46). Its `key` and `fingerprint` are those of the key that the advice is
 * about: of one in the query, that one rather than what came in the header.
 */
export type AdviceExample = Pick<Exchange, "id" | "at" | "method" | "path"> & ShownKey;

/** The number of times that an advice was earned, and the first requests that earned it. */
export interface AdviceCount {
  readonly count: number;
  readonly examples: readonly AdviceExample[];
}

/** The number of requests that ended on a path, and whether one did other than by a key in a wrong place. */
interface PathCount {
  /** Of a promised path without those to endpoints of the preview. */
  readonly count: number;
  readonly previewCount: number;
  readonly isMet: boolean;
}

/** How often a key was sent again after it had been refused on a path. */
export interface RepeatCount extends ShownKey {
  readonly pathId: PathId;
  readonly count: number;
  /** The real milliseconds from the first refusal to the latest of them, within one world. */
  readonly withinMs: number;
}

/** The counts of every path and every advice, zeros included. */
export interface Counts {
  readonly requests: number;
  readonly unread: number;
  readonly paths: Readonly<Record<PathId, PathCount>>;
  readonly advice: Readonly<Record<AdviceId, AdviceCount>>;
  /** By path and key, those of the first hundred. */
  readonly repeats: readonly RepeatCount[];
}

/** Counts requests by path and by advice; unlike the journal it forgets none. It is about the client, not the world. */
export interface Counters {
  /**
   * Counts a request; one that a fault delayed counts for its path and for the fault. `keys` has the key that an advice
   * is about, if it is not the one that was presented.
   */
  readonly count: (exchange: Exchange, keys?: Readonly<Partial<Record<AdviceId, ShownKey>>>) => void;
  /** Counts an answer whose client had gone before it was whole, because a fault let it wait. */
  readonly countUnread: () => void;
  /** Counts everything there, too. */
  readonly passOnTo: (others: Pick<Counters, "count" | "countUnread">) => void;
  /** Adds what was counted elsewhere; nothing of it is passed on. */
  readonly add: (counts: Counts) => void;
  /** A copy of the counts since the start or the last `clear`. */
  readonly read: () => Counts;
  /** Starts anew; what was passed on stays counted there. */
  readonly clear: () => void;
  /** Starts from these counts, of which nothing is passed on. */
  readonly restore: (counts: Counts) => void;
  /** The options that curl needs to reach the server, set by the server. Default: none. */
  curlOptions: string;
}

const mostExamples = 5;
const mostRepeats = 100;
const notCounted: PathCount = { count: 0, previewCount: 0, isMet: false };

interface AdviceRow {
  count: number;
  readonly examples: AdviceExample[];
}

export function createCounters(): Counters {
  // Boxes, because writing into a map takes longer than reading from it; each made when it is first counted in.
  const paths = new Map<PathId, { count: number; previewCount: number; isMet: boolean }>();
  const advice = new Map<AdviceId, AdviceRow>();
  const repeats = new Map<string, RepeatCount>();
  let requests = 0;
  let unread = 0;
  let others: Pick<Counters, "count" | "countUnread"> | undefined;

  const countPath = (pathId: PathId, isMet: boolean, isPreview: boolean) => {
    let box = paths.get(pathId);
    if (box === undefined) {
      box = { ...notCounted };
      paths.set(pathId, box);
    }
    if (isPreview) {
      box.previewCount += 1;
      if (outcomeOf(pathId).promised) return;
    }
    box.count += 1;
    box.isMet ||= isMet;
  };
  const rowOf = (id: AdviceId) => {
    let row = advice.get(id);
    if (row === undefined) {
      row = { count: 0, examples: [] };
      advice.set(id, row);
    }
    return row;
  };
  const countRepeat = ({ pathId, key, fingerprint, count, withinMs }: RepeatCount) => {
    const id = `${pathId} ${fingerprint}`;
    const known = repeats.get(id);
    if (known === undefined && repeats.size === mostRepeats) return;
    const within = Math.max(withinMs, known?.withinMs ?? 0);
    repeats.set(id, { pathId, key, fingerprint, count: (known?.count ?? 0) + count, withinMs: within });
  };
  return {
    curlOptions: "",
    count(exchange, keys) {
      const { pathId, fault, isPreview, advice: earned } = exchange;
      requests += 1;
      countPath(pathId, !isByMistake(exchange), isPreview);
      if (fault !== null && fault !== pathId) countPath(fault, true, isPreview);
      if (exchange.repeat !== undefined) {
        const { key, fingerprint, repeat } = exchange;
        countRepeat({ pathId, key, fingerprint, count: 1, withinMs: repeat.withinMs });
      }
      for (const id of earned) countAdvice(rowOf(id), exchange, keys?.[id]);
      others?.count(exchange, keys);
    },
    countUnread() {
      unread += 1;
      others?.countUnread();
    },
    passOnTo(next) {
      others = next;
    },
    add(counts) {
      requests += counts.requests;
      unread += counts.unread;
      for (const [id, { count, previewCount, isMet }] of Object.entries(counts.paths)) {
        const box = paths.get(id as PathId) ?? { ...notCounted };
        box.count += count;
        box.previewCount += previewCount;
        box.isMet ||= isMet;
        paths.set(id as PathId, box);
      }
      for (const [id, { count, examples }] of Object.entries(counts.advice)) {
        const row = rowOf(id as AdviceId);
        row.count += count;
        row.examples.push(...examples.slice(0, mostExamples - row.examples.length));
      }
      counts.repeats.forEach(countRepeat);
    },
    read: () => ({
      requests,
      unread,
      paths: Object.fromEntries(
        outcomes.map(({ path }) => [path, { ...notCounted, ...paths.get(path) }]),
      ) as Counts["paths"],
      advice: Object.fromEntries(
        adviceIds.map((id) => {
          const { count, examples } = advice.get(id) ?? { count: 0, examples: [] };
          return [id, { count, examples: [...examples] }];
        }),
      ) as unknown as Counts["advice"],
      repeats: [...repeats.values()],
    }),
    clear() {
      requests = 0;
      unread = 0;
      paths.clear();
      advice.clear();
      repeats.clear();
    },
    restore(counts) {
      this.clear();
      this.add(counts);
    },
  };
}

function countAdvice(row: AdviceRow, exchange: Exchange, shown?: ShownKey): void {
  row.count += 1;
  if (row.examples.length === mostExamples) return;
  const { id, at, method, path, key, fingerprint } = exchange;
  row.examples.push({ id, at, method, path, key, fingerprint, ...shown });
}

// A client whose key is not alone in `x-api-key` gets 401 without having meant to.
function isByMistake({ pathId, advice }: Exchange): boolean {
  const hasNoKey = pathId === "401.missing" || pathId === "401.malformed";
  return hasNoKey && advice.includes("key-in-authorization");
}

/** The windows in which one world counts: minutes and days. */
export interface Windows {
  readonly sliding: boolean;
  /** Milliseconds after midnight UTC. */
  readonly dayResetsAt: number;
}

/** The usage of one key, changed in place with every request. */
export interface Usage {
  minuteCount: number;
  /** When the current fixed minute ends; unused with a sliding one. */
  minuteEndsAt: number;
  dayCount: number;
  dayEndsAt: number;
  /** When the counted requests of the sliding minute came, oldest first. */
  readonly recent: number[];
  /** When the last request was counted; `undefined` when none was since the world started. */
  countedAt: number | undefined;
}

/** The windows that the assumptions ask for. */
export function windowsOf(assumptions: Assumptions): Windows {
  return {
    sliding: assumptions.minute_window === "sliding",
    dayResetsAt: timeOfDay(assumptions.day_resets_at),
  };
}

/** The usage of a key before the world started. */
export interface PastUsage {
  /** Default: 0. */
  readonly thisMinute?: number | undefined;
  /** Default: that of the minute. */
  readonly today?: number | undefined;
  /** When those of a sliding minute were counted (epoch milliseconds), oldest first. Default: all at the start. */
  readonly countedAt?: readonly number[] | undefined;
}

/** A key's usage at `now`, with what it is said to have used already. */
export function startUsage(windows: Windows, now: number, past: PastUsage = {}): Usage {
  const { thisMinute = 0, today = thisMinute, countedAt } = past;
  return {
    minuteCount: thisMinute,
    minuteEndsAt: minuteStart(now) + minute,
    dayCount: today,
    dayEndsAt: dayStart(now, windows.dayResetsAt) + day,
    recent: windows.sliding ? [...(countedAt ?? new Array<number>(thisMinute).fill(now))] : [],
    countedAt: undefined,
  };
}

/**
 * Forgets what lies outside the minute and the day that hold `now` (R22, R23): later ones as well, which a clock that went
 * back with a fake `Date` has left.
 */
export function settleUsage(usage: Usage, windows: Windows, now: number): void {
  if (now >= usage.dayEndsAt || now < usage.dayEndsAt - day) {
    usage.dayCount = 0;
    usage.dayEndsAt = dayStart(now, windows.dayResetsAt) + day;
  }
  if (windows.sliding) {
    const { recent } = usage;
    while (recent.length > 0 && now - (recent[0] as number) >= minute) recent.shift();
    while (recent.length > 0 && (recent.at(-1) as number) > now) recent.pop();
    usage.minuteCount = recent.length;
  } else if (now >= usage.minuteEndsAt || now < usage.minuteEndsAt - minute) {
    usage.minuteCount = 0;
    usage.minuteEndsAt = minuteStart(now) + minute;
  }
}
