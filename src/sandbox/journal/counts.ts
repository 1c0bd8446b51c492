import type { AdviceId } from "../../rules/advice.js";
import type { OutcomeId } from "../../rules/outcomes.js";
import type { RunTrace } from "../run-trace.js";
import type { Exchange } from "./exchange.js";

/** A key for display: its ref if it is known, and its fingerprint (R46). */
export type ShownKey = Pick<Exchange, "key" | "fingerprint">;

/** Contains no key (R46). Identifies the key that the advice is about, such as one in the query. */
type AdviceExample = Pick<Exchange, "id" | "at" | "method" | "path"> & ShownKey;

interface AdviceCount {
  count: number;
  readonly examples: AdviceExample[];
}

interface OutcomeCount {
  count: number;
  /** Whether a request ended here other than by a misplaced key. */
  isCovered: boolean;
}

/** How often a key was resent after an outcome rejected it, and was rejected there again. */
interface ResendCount {
  key: string | null;
  readonly fingerprint: string | null;
  readonly outcome: OutcomeId;
  count: number;
}

/** What requests were counted; what never happened is not listed. */
export interface Counts {
  requests: number;
  unread: number;
  /** The counts by outcome, also of the successes of other endpoints. */
  readonly outcomes: Partial<Record<OutcomeId, OutcomeCount>>;
  readonly endpoints: Record<string, number>;
  readonly advice: Partial<Record<AdviceId, AdviceCount>>;
  /** The first hundred, by outcome and key. */
  readonly resends: ResendCount[];
}

/** The maximum number of examples of one advice, the same as in reports. */
const maxExamples = 5;
const maxResends = 100;

function noCounts(): Counts {
  return { requests: 0, unread: 0, outcomes: {}, endpoints: {}, advice: {}, resends: [] };
}

export type KeysOfAdvice = Readonly<Partial<Record<AdviceId, ShownKey>>>;

export interface Counting {
  count: (exchange: Exchange, keys?: KeysOfAdvice, trace?: RunTrace) => void;
  /** `id`: of the request whose response the client did not read whole. */
  countUnread: (id: string) => void;
}

/** Counts requests by outcome and by advice. Unlike the journal, it discards none; a reset keeps the counts. */
export class Counters {
  #counts = noCounts();
  #next: Counting | undefined;

  /** A delayed request counts for its outcome and the fault. `keys`: of advice on other keys than the presented one. */
  count(exchange: Exchange, keys?: KeysOfAdvice, trace?: RunTrace): void {
    countExchange(this.#counts, exchange, keys);
    this.#next?.count(exchange, keys, trace);
  }

  countUnread(id: string): void {
    this.#counts.unread += 1;
    this.#next?.countUnread(id);
  }

  /** Counts every later request there as well. */
  passOnTo(next: Counting): void {
    this.#next = next;
  }

  read(): Counts {
    return structuredClone(this.#counts);
  }

  requests(): number {
    return this.#counts.requests;
  }

  unread(): number {
    return this.#counts.unread;
  }

  /** Starts again from zero; what was passed on remains there. */
  clear(): void {
    this.#counts = noCounts();
  }

  restore(counts: Counts): void {
    this.#counts = structuredClone(counts);
  }
}

/** The number of requests to an endpoint, whose name may be that of a member of objects: `valueOf`. */
export function requestsTo({ endpoints }: Counts, operationId: string): number {
  return Object.hasOwn(endpoints, operationId) ? (endpoints[operationId] ?? 0) : 0;
}

function countExchange(counts: Counts, exchange: Exchange, keys?: KeysOfAdvice): void {
  const { outcome, fault, operation } = exchange;
  counts.requests += 1;
  if (operation !== null) counts.endpoints[operation] = requestsTo(counts, operation) + 1;
  countOutcome(counts, outcome, !isByMistake(exchange));
  if (fault !== null && fault !== outcome) countOutcome(counts, fault, true);
  if (exchange.isResent) countResend(counts, exchange);
  for (const id of exchange.advice) countAdvice(counts, id, exchange, keys?.[id]);
}

function countOutcome({ outcomes }: Counts, outcome: OutcomeId, isCovered: boolean): void {
  const row = outcomes[outcome] ?? { count: 0, isCovered: false };
  outcomes[outcome] = row;
  row.count += 1;
  row.isCovered ||= isCovered;
}

function countResend({ resends }: Counts, { outcome, key, fingerprint }: Exchange): void {
  const counted = resends.find((one) => one.outcome === outcome && one.fingerprint === fingerprint);
  if (counted !== undefined) {
    counted.count += 1;
    counted.key = key;
  } else if (resends.length < maxResends) {
    resends.push({ outcome, key, fingerprint, count: 1 });
  }
}

function countAdvice({ advice }: Counts, adviceId: AdviceId, exchange: Exchange, shown?: ShownKey): void {
  const row = advice[adviceId] ?? { count: 0, examples: [] };
  advice[adviceId] = row;
  row.count += 1;
  if (row.examples.length === maxExamples) return;
  const { id, at, method, path, key, fingerprint } = exchange;
  row.examples.push({ id, at, method, path, key, fingerprint, ...shown });
}

const misplaced: readonly AdviceId[] = ["key-in-query", "key-in-url", "key-in-authorization"];

// A client that sends its key in the URL, in the wrong header, or with other text, gets 401 by mistake.
function isByMistake({ outcome, advice }: Exchange): boolean {
  const hasNoKey = outcome === "401.missing" || outcome === "401.malformed";
  return hasNoKey && misplaced.some((id) => advice.includes(id));
}
