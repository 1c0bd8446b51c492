import { headerPairs } from "../../api/http-messages.js";
import words from "../../api/variation/words.json" with { type: "json" };
import { isIdempotent } from "../../rules/fault-effects.js";
import type { RunTrace } from "../../runs/conditions.js";
import type { RequestCounter } from "../../sandbox/journal/counts.js";
import type { Exchange } from "../../sandbox/journal/exchange.js";
import type { VariedPoint } from "../../sandbox/variants.js";
import type { KeyRequest, RequestFacts, SentKey } from "./client-run.js";

/** The words of each row: of its variants, after "when a 200", such as "has an `ETag`", and of how to read them. What `minimal` does has none. */
export const variationWords: Readonly<
  Record<string, { readonly remedy: string; readonly variants: Readonly<Record<string, string>> }>
> = words;

/** What the requests of a run show, over all its sandboxes: each sandbox reports its exchanges here, with what the run did to them. */
export class SeenRequests implements RequestCounter {
  readonly #time: () => number;
  /** The requests with each key, by its ref or fingerprint. */
  readonly #sentKeys = new Map<string, SentKey & { readonly requests: KeyRequest[] }>();
  readonly #points = new Map<string, VariedPoint>();
  readonly #scenarios = new Set<string>();
  readonly #ownAssumptions = new Set<string>();
  readonly #headersWithKey = new Set<string>();
  #replacedCount = 0;
  #ownSeed: RunTrace["ownSeed"];
  #lastRequest: RequestFacts["lastRequest"];
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
      if (isVaried) this.#points.set(`${point.row} ${point.status} ${point.variant}`, point);
    }
    this.#ownSeed ??= trace.ownSeed;
    this.#scenarios.add(trace.scenario);
    for (const name of trace.ownAssumptions) this.#ownAssumptions.add(name);
  }

  /** The report counts these. */
  countUnread(): void {}

  facts(): RequestFacts {
    return {
      sentKeys: [...this.#sentKeys.values()],
      points: [...this.#points.values()],
      replacedCount: this.#replacedCount,
      lastRequest: this.#lastRequest,
      ownSeed: this.#ownSeed,
      ownAssumptions: [...this.#ownAssumptions],
      headersWithKey: [...this.#headersWithKey],
      scenarios: [...this.#scenarios],
    };
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
    if (replaced !== undefined) this.#replacedCount += 1;
  }
}
