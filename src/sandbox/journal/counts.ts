import type { AdviceId } from "../../rules/advice.js";
import type { PathId } from "../../rules/outcomes.js";
import type { Observation } from "../conditions.js";
import type { Exchange } from "./exchange.js";

/** A key for display: its ref if it is known, and its fingerprint (R46). */
export type ShownKey = Pick<Exchange, "key" | "fingerprint">;

/** Contains no key (R46). Identifies the key that the advice is about, such as one in the query. */
export type AdviceExample = Pick<Exchange, "id" | "at" | "method" | "path"> & ShownKey;

export interface AdviceCount {
  count: number;
  readonly examples: AdviceExample[];
}

interface PathCount {
  count: number;
  /** Whether a request ended here other than by a misplaced key. */
  isCovered: boolean;
}

/** How often a key was resent after a path rejected it, and was rejected there again. */
export interface RepeatCount {
  key: string | null;
  readonly fingerprint: string | null;
  readonly pathId: PathId;
  count: number;
}

/** Without zeros. */
export interface Counts {
  requests: number;
  unread: number;
  /** By path id, also of the successes of other endpoints. */
  readonly paths: Partial<Record<PathId, PathCount>>;
  readonly endpoints: Record<string, number>;
  readonly advice: Partial<Record<AdviceId, AdviceCount>>;
  /** By path and key; the first hundred. */
  readonly repeats: RepeatCount[];
  /** Without the counts that other sandboxes have passed on. Default: the same. */
  own?: Counts | undefined;
}

export type Counters = ReturnType<typeof createCounters>;

const maxExamples = 5;
const maxRepeats = 100;

const noCounts = (): Counts => {
  return { requests: 0, unread: 0, paths: {}, endpoints: {}, advice: {}, repeats: [] };
};

export type KeysOfAdvice = Readonly<Partial<Record<AdviceId, ShownKey>>>;

export interface Counting {
  count: (exchange: Exchange, keys?: KeysOfAdvice, seen?: Observation, isPassedOn?: boolean) => void;
  countUnread: (isPassedOn?: boolean) => void;
}

/** Counts requests by path and by advice. Unlike the journal, it discards none; a reset keeps the counts. */
export function createCounters() {
  let counts = noCounts();
  let others: Counting | undefined;
  // The own counts are separate from the first request of another sandbox on.
  const counted = (isPassedOn: boolean) => {
    if (isPassedOn) counts.own ??= structuredClone(counts);
    return isPassedOn || counts.own === undefined ? [counts] : [counts, counts.own];
  };
  return {
    /** Options that curl needs to reach the server, which sets them. Default: none. */
    curlOptions: "",
    /** A delayed request counts for its path and the fault. `keys`: of advice on other keys than the presented one. */
    count(exchange: Exchange, keys?: KeysOfAdvice, seen?: Observation, isPassedOn = false): void {
      for (const each of counted(isPassedOn)) countExchange(each, exchange, keys);
      others?.count(exchange, keys, seen, true);
    },
    countUnread(isPassedOn = false): void {
      for (const each of counted(isPassedOn)) each.unread += 1;
      others?.countUnread(true);
    },
    /** Counts every later request there as well. */
    passOnTo(next: Counting): void {
      others = next;
    },
    read: (): Counts => structuredClone(counts),
    /** Returns them without those that other sandboxes have passed on. */
    readOwn: (): Counts => structuredClone(counts.own ?? counts),
    requests: () => counts.requests,
    unread: () => counts.unread,
    /** Starts again from zero; counts that were passed on remain. */
    clear(): void {
      counts = noCounts();
    },
    restore(given: Counts): void {
      counts = structuredClone(given);
    },
  };
}

function countExchange(counts: Counts, exchange: Exchange, keys?: KeysOfAdvice): void {
  const { pathId, fault, operation } = exchange;
  counts.requests += 1;
  if (operation !== null) counts.endpoints[operation] = (counts.endpoints[operation] ?? 0) + 1;
  countPath(counts, pathId, !isByMistake(exchange));
  if (fault !== null && fault !== pathId) countPath(counts, fault, true);
  if (exchange.isResent) countRepeat(counts, exchange);
  for (const id of exchange.advice) countAdvice(counts, id, exchange, keys?.[id]);
}

function countPath({ paths }: Counts, pathId: PathId, isCovered: boolean): void {
  const row = paths[pathId] ?? { count: 0, isCovered: false };
  paths[pathId] = row;
  row.count += 1;
  row.isCovered ||= isCovered;
}

function countRepeat({ repeats }: Counts, { pathId, key, fingerprint }: Exchange): void {
  const counted = repeats.find((one) => one.pathId === pathId && one.fingerprint === fingerprint);
  if (counted !== undefined) {
    counted.count += 1;
    counted.key = key;
  } else if (repeats.length < maxRepeats) repeats.push({ pathId, key, fingerprint, count: 1 });
}

function countAdvice({ advice }: Counts, adviceId: AdviceId, exchange: Exchange, shown?: ShownKey): void {
  const row = advice[adviceId] ?? { count: 0, examples: [] };
  advice[adviceId] = row;
  row.count += 1;
  if (row.examples.length === maxExamples) return;
  const { id, at, method, path, key, fingerprint } = exchange;
  row.examples.push({ id, at, method, path, key, fingerprint, ...shown });
}

// A client that sends its key in the query, in the wrong header, or with other text, gets 401 by mistake.
function isByMistake({ pathId, advice }: Exchange): boolean {
  const hasNoKey = pathId === "401.missing" || pathId === "401.malformed";
  return hasNoKey && (advice.includes("key-in-authorization") || advice.includes("key-in-query"));
}
