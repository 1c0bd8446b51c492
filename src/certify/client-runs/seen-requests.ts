import { headerPairs } from "../../api/http-messages.js";
import words from "../../api/variation/words.json" with { type: "json" };
import { isIdempotent } from "../../rules/fault-effects.js";
import type { RunTrace } from "../../runs/run-trace.js";
import type { RequestCounter } from "../../sandbox/journal/counts.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import type { KeyRequest, RequestFacts, SentKey } from "./client-run.js";

/** The words of each row: of its variants, after "when a 200", such as "has an `ETag`", and of how to read them. What `minimal` does has none. */
export const variationWords: Readonly<
  Record<string, { readonly remedy: string; readonly variants: Readonly<Record<string, string>> }>
> = words;

/** Equal for the same variant of the same row on the same status. */
export const pointId = ({ row, status, variant }: VariedPoint) => `${row} ${status} ${variant}`;

/** What the requests of a run show, over all its sandboxes: each sandbox reports its exchanges here, with what the run did to them. */
export class SeenRequests implements RequestCounter {
  readonly #time: () => number;
  /** The requests with each key, by its ref or fingerprint. */
  readonly #sentKeys = new Map<string, SentKey & { readonly requests: KeyRequest[] }>();
  readonly #points = new Map<string, VariedPoint>();
  readonly #scenarios = new Set<string>();
  readonly #ownAssumptions = new Set<string>();
  readonly #headersWithKey = new Set<string>();
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
    if (exchange.traits.includes("key in other header")) {
      for (const [name, value] of headerPairs(exchange.keptHeaders)) {
        // A key is redacted up to its prefix.
        if (value.includes("…")) this.#headersWithKey.add(name);
      }
    }
    if (trace === undefined) return;
    this.#addRequest(exchange, trace);
    for (const point of trace.points) {
      // A variant without words is what `minimal` does.
      const isVaried = variationWords[point.row]?.variants[point.variant] !== undefined;
      if (isVaried) this.#points.set(pointId(point), point);
    }
    this.#ownSeed ??= trace.ownSeed;
    this.#scenarios.add(trace.scenario);
    for (const name of trace.ownAssumptions) this.#ownAssumptions.add(name);
  }

  countUnread(id: string): void {
    this.#unread.add(id);
  }

  facts(): RequestFacts {
    return {
      sentKeys: [...this.#sentKeys.values()].map((sentKey) => this.#withUnread(sentKey)),
      points: [...this.#points.values()],
      replacedCount: this.#replacedCount,
      lastRequest: this.#lastRequest,
      lastAskedWait: this.#lastAskedWait,
      ownSeed: this.#ownSeed,
      ownAssumptions: [...this.#ownAssumptions],
      headersWithKey: [...this.#headersWithKey],
      scenarios: [...this.#scenarios],
    };
  }

  /** Marks the requests that are unread, which a sandbox reports later than the request. */
  #withUnread(sentKey: SentKey): SentKey {
    const requests = sentKey.requests.map((request) =>
      this.#unread.has(request.id) ? { ...request, isUnread: true } : request,
    );
    return { ...sentKey, requests };
  }

  #addRequest(exchange: Exchange, { replaced, afterRejection }: RunTrace): void {
    const { id, at, outcome, key: ref, fingerprint, method, response } = exchange;
    const key = ref ?? fingerprint ?? "";
    const sentKey = this.#sentKeys.get(key) ?? { key, isUnknown: ref === null, requests: [] };
    this.#sentKeys.set(key, sentKey);
    sentKey.requests.push({
      id,
      nth: sentKey.requests.length + 1,
      at,
      // Runs are compared by where a request would have ended; a reason names what the client got last.
      outcome: replaced ?? outcome,
      canTakeFault: isIdempotent(method) && response.body !== "",
      isReplaced: replaced !== undefined,
      afterRejection,
    });
    this.#lastRequest = { id, outcome };
    const seconds = secondsToWait(exchange);
    if (seconds !== undefined) this.#lastAskedWait = { outcome, status: response.status, seconds };
    if (replaced !== undefined) this.#replacedCount += 1;
  }
}

/** The seconds of `Retry-After`, which may be a date; `undefined` without it, or if it is neither a number nor a date. */
function secondsToWait({ response, at }: Exchange): number | undefined {
  const [, value = ""] =
    headerPairs(response.headers).find(([name]) => name.toLowerCase() === "retry-after") ?? [];
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.round((date - at) / 1000));
}
