import { isIdempotent } from "../rules/fault-effects.js";
import { Counters, type Counting, type KeysOfAdvice } from "../sandbox/journal/counts.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { RunTrace, VariedPoint } from "../sandbox/run-trace.js";
import type { KeyRequest, RunEnd, SentKey } from "./client-run.js";
import { pointId, variantWords } from "./varied-points.js";

/** What the requests of a run show. */
export class SeenRequests implements Counting {
  readonly counters = new Counters();
  readonly #time: () => number;
  readonly #sent = new Map<string, SentKey & { readonly requests: KeyRequest[] }>();
  readonly #points = new Map<string, VariedPoint>();
  readonly #scenarios = new Set<string>();
  readonly #ownAssumptions = new Set<string>();
  readonly #unread = new Set<string>();
  #replacedCount = 0;
  #pinned: RunTrace["pinned"];
  #last: RunEnd["lastRequest"];
  #latestAt: number;

  /** `time`: milliseconds that only grow. */
  constructor(time: () => number) {
    this.#time = time;
    this.#latestAt = time();
  }

  /** When the latest request came. */
  get latest(): number {
    return this.#latestAt;
  }

  count(exchange: Exchange, keys?: KeysOfAdvice, trace?: RunTrace): void {
    this.counters.count(exchange, keys);
    this.#latestAt = this.#time();
    if (trace !== undefined) this.#addTrace(exchange, trace);
  }

  countUnread(id: string): void {
    this.counters.countUnread(id);
    this.#unread.add(id);
  }

  facts() {
    const pinned = this.#pinned;
    return {
      sent: [...this.#sent.values()].map((sent) => ({ ...sent, requests: sent.requests.map(this.#asRead) })),
      points: [...this.#points.values()],
      replacedCount: this.#replacedCount,
      lastRequest: this.#last,
      pinned: pinned && `${pinned.place ?? "the client's code"} sets the seed ${pinned.seed}`,
      ownAssumptions: [...this.#ownAssumptions],
      scenarios: [...this.#scenarios],
    };
  }

  #asRead = (request: KeyRequest): KeyRequest =>
    this.#unread.has(request.id) ? { ...request, isUnread: true } : request;

  #addTrace(exchange: Exchange, trace: RunTrace): void {
    const { id, at, outcome, key: ref, fingerprint, method, response } = exchange;
    const key = ref ?? fingerprint ?? "";
    const ofKey = this.#sent.get(key) ?? { key, isUnknown: ref === null, requests: [] };
    this.#sent.set(key, ofKey);
    const { replaced, earlyMs, isElsewhere } = trace;
    const canFail = isIdempotent(method) && response.body !== "";
    ofKey.requests.push({
      id,
      at,
      outcome: replaced ?? outcome,
      canFail,
      isReplaced: replaced !== undefined,
      earlyMs,
      isElsewhere,
    });
    const points = trace.points.filter(({ row, variant }) => variantWords(row, variant) !== undefined);
    for (const point of points) this.#points.set(pointId(point), point);
    this.#last = { id, outcome };
    this.#replacedCount += replaced === undefined ? 0 : 1;
    this.#pinned ??= trace.pinned;
    this.#scenarios.add(trace.scenario);
    for (const name of trace.ownAssumptions) this.#ownAssumptions.add(name);
  }
}
