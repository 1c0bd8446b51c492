import { headerPairs } from "../../api/http-messages.js";
import { isIdempotent } from "../../rules/fault-effects.js";
import type { RequestCounter } from "../../sandbox/journal/counts.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { RunTrace, VariedPoint } from "../../sandbox/run-trace.js";
import type { KeyRequest, RequestFacts, SentKey } from "./client-run.js";
import { pointId, variantWords } from "./varied-points.js";

/** What the requests of a run show, over all its sandboxes: each sandbox reports its exchanges here, with what the run did to them. */
export class SeenRequests implements RequestCounter {
  readonly #time: () => number;
  /** The requests with each key, by its ref or fingerprint. */
  readonly #sentKeys = new Map<string, SentKey & { readonly requests: KeyRequest[] }>();
  readonly #points = new Map<string, VariedPoint>();
  readonly #scenarios = new Set<string>();
  readonly #ownAssumptions = new Set<string>();
  /** The ids of requests whose response the client did not read whole. */
  readonly #unread = new Set<string>();
  #replacedCount = 0;
  #ownSeed: RunTrace["ownSeed"];
  #lastRequest: RequestFacts["lastRequest"];
  #lastAskedWait: RequestFacts["lastAskedWait"];
  #latestAt: number;

  /** `time`: milliseconds that only grow. */
  constructor(time: () => number) {
    this.#time = time;
    this.#latestAt = time();
  }

  /** When the latest request came, by `time`; before the first one, when the run began. */
  get latestRequestAt(): number {
    return this.#latestAt;
  }

  count(exchange: Exchange, trace?: RunTrace): void {
    this.#latestAt = this.#time();
    if (trace === undefined) return;
    this.#addRequest(exchange, trace);
    this.#addTrace(trace);
  }

  countUnread(id: string): void {
    this.#unread.add(id);
  }

  /** What a run has of its requests when it ends. */
  facts(): RequestFacts {
    const sentKeys = [...this.#sentKeys.values()];
    return {
      sentKeys: sentKeys.map((sentKey) => this.#withUnread(sentKey)),
      points: [...this.#points.values()],
      replacedCount: this.#replacedCount,
      lastRequest: this.#lastRequest,
      lastAskedWait: this.#lastAskedWait,
      ownSeed: this.#ownSeed,
      ownAssumptions: [...this.#ownAssumptions],
      scenarios: [...this.#scenarios],
    };
  }

  /** Marks the requests that are unread, which a sandbox reports later than the request. */
  #withUnread(sentKey: SentKey): SentKey {
    const requests: KeyRequest[] = [];
    for (const request of sentKey.requests) {
      requests.push(this.#unread.has(request.id) ? { ...request, isUnread: true } : request);
    }
    return { ...sentKey, requests };
  }

  #addRequest(exchange: Exchange, { replaced, afterRejection }: RunTrace): void {
    const { id, at, outcome, key: ref, fingerprint, method, response } = exchange;
    const key = ref ?? fingerprint ?? "";
    const sentKey = this.#sentKeys.get(key) ?? { key, isUnknown: ref === null, requests: [] };
    this.#sentKeys.set(key, sentKey);
    // Runs are compared by where a request would have ended; a reason names what the client got last.
    const outcomeWithoutRun = replaced ?? outcome;
    sentKey.requests.push({
      id,
      at,
      outcome: outcomeWithoutRun,
      canTakeFault: isIdempotent(method) && response.body !== "",
      isReplaced: replaced !== undefined,
      afterRejection,
    });
    this.#lastRequest = { id, outcome };
    const seconds = secondsToWait(exchange);
    if (seconds !== undefined) this.#lastAskedWait = { outcome, status: response.status, seconds };
    if (replaced !== undefined) this.#replacedCount += 1;
  }

  #addTrace({ points, ownSeed, scenario, ownAssumptions }: RunTrace): void {
    for (const point of points) {
      // A variant without words is what `minimal` does.
      if (variantWords(point.row, point.variant) !== undefined) this.#points.set(pointId(point), point);
    }
    this.#ownSeed ??= ownSeed;
    this.#scenarios.add(scenario);
    for (const name of ownAssumptions) this.#ownAssumptions.add(name);
  }
}

/** The seconds of `Retry-After`, which may be a date; `undefined` without it, or if it is neither a number nor a date. */
function secondsToWait({ response, at }: Exchange): number | undefined {
  const header = headerPairs(response.headers).find(([name]) => name.toLowerCase() === "retry-after");
  if (header === undefined) return undefined;

  const [, value] = header;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  if (Number.isNaN(date)) return undefined;
  return Math.max(0, Math.round((date - at) / 1000));
}
