import type { AdviceId } from "../../rules/advice.js";
import type { OutcomeId } from "../../rules/outcomes.js";
import type { Exchange } from "./exchange.js";

/** What the report counts; what never happened is not listed. */
export interface Counts {
  requests: number;
  /** The responses that the client did not read whole. */
  unread: number;
  readonly outcomes: Partial<
    Record<
      OutcomeId,
      {
        count: number;
        /** Whether a request has covered the outcome: see `coversOutcome`. */
        isCovered: boolean;
      }
    >
  >;
  readonly endpoints: Record<string, number>;
  /** How often requests have caused an advice, and the first of them, with the key that it is about, such as one in the query (R46). */
  readonly advice: Partial<
    Record<
      AdviceId,
      {
        count: number;
        readonly examples: Pick<Exchange, "id" | "at" | "method" | "path" | "key" | "fingerprint">[];
      }
    >
  >;
  /** How often a key was resent after an outcome rejected it, and was rejected there again: the first hundred keys and outcomes. */
  readonly resends: (Pick<Exchange, "fingerprint" | "outcome"> & { key: string | null; count: number })[];
}

export const maxAdviceExamples = 5;
const maxResends = 100;

const misplacedKeyAdvice: readonly AdviceId[] = ["key-in-query", "key-in-url", "key-in-authorization"];

/** What is told of each request that a client sent, with the trace that its run keeps of it. */
export interface RequestCounter {
  count(exchange: Exchange, trace?: object): void;
  countUnread: (id: string) => void;
}

/** Counts requests for the report. Unlike the journal, it discards none; a reset keeps the counts. */
export class Counters implements RequestCounter {
  #counts: Counts;
  /** Counts the same requests for a client's run, whose report goes on when `clear` starts this report again. */
  #counterOfRun: RequestCounter | undefined;

  /** Default: no requests so far. */
  constructor(saved = zeroCounts()) {
    this.#counts = structuredClone(saved);
  }

  count(exchange: Exchange, trace?: object): void {
    countExchange(this.#counts, exchange);
    this.#counterOfRun?.count(exchange, trace);
  }

  countUnread(id: string): void {
    this.#counts.unread += 1;
    this.#counterOfRun?.countUnread(id);
  }

  /** From now on, this counter of a client's run counts each request, too. It replaces the counter of an earlier run. */
  alsoCountWith(counterOfRun: RequestCounter): void {
    this.#counterOfRun = counterOfRun;
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

  clear(): void {
    this.#counts = zeroCounts();
  }
}

function zeroCounts(): Counts {
  return { requests: 0, unread: 0, outcomes: {}, endpoints: {}, advice: {}, resends: [] };
}

/** The number of requests to an endpoint. Its operation id may be `valueOf`, which each object has: only own members count. */
export function requestsTo({ endpoints }: Counts, operationId: string): number {
  return Object.hasOwn(endpoints, operationId) ? (endpoints[operationId] ?? 0) : 0;
}

function countExchange(counts: Counts, exchange: Exchange): void {
  const { outcome, fault, operation } = exchange;
  counts.requests += 1;
  if (operation !== null) counts.endpoints[operation] = requestsTo(counts, operation) + 1;
  countOutcome(counts, outcome, coversOutcome(exchange));
  // A delayed request counts for its outcome and for the fault.
  if (fault !== null && fault !== outcome) countOutcome(counts, fault, true);
  if (exchange.isResent) countResend(counts, exchange);
  for (const id of exchange.advice) countAdvice(counts, id, exchange);
}

function countOutcome({ outcomes }: Counts, outcome: OutcomeId, isCovered: boolean): void {
  const entry = outcomes[outcome] ?? { count: 0, isCovered: false };
  outcomes[outcome] = entry;
  entry.count += 1;
  if (isCovered) entry.isCovered = true;
}

function countResend({ resends }: Counts, { outcome, key, fingerprint }: Exchange): void {
  const counted = resends.find((resend) => resend.outcome === outcome && resend.fingerprint === fingerprint);
  if (counted !== undefined) {
    counted.count += 1;
    // A key that was unknown may have a ref by now, and the other way round after a restart.
    counted.key = key;
    return;
  }
  if (resends.length < maxResends) resends.push({ outcome, key, fingerprint, count: 1 });
}

function countAdvice({ advice }: Counts, adviceId: AdviceId, exchange: Exchange): void {
  const entry = advice[adviceId] ?? { count: 0, examples: [] };
  advice[adviceId] = entry;
  entry.count += 1;
  if (entry.examples.length === maxAdviceExamples) return;
  const { id, at, method, path } = exchange;
  const { key, fingerprint } = exchange.keysOfAdvice?.[adviceId] ?? exchange;
  entry.examples.push({ id, at, method, path, key, fingerprint });
}

/**
 * Whether a request covers its outcome. A client that puts its key in the URL, in the wrong header or beside other text meant to
 * send it: its request gets `401.missing` or `401.malformed`, but does not cover it.
 */
function coversOutcome({ outcome, advice }: Exchange): boolean {
  const isWithoutKey = outcome === "401.missing" || outcome === "401.malformed";
  if (!isWithoutKey) return true;
  const hasMisplacedKey = misplacedKeyAdvice.some((id) => advice.includes(id));
  return !hasMisplacedKey;
}
