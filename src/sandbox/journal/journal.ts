import type { ValueOf } from "../../rules/schema/shape.js";
import type { requestQuery } from "../../scenario/format/inputs.js";
import type { ChangeEvent, SandboxEvent } from "./events.js";
import { type Exchange, senderOf, sourceOf } from "./exchange.js";

/** Receives events. An error is thrown to the caller after all listeners ran; the event has already happened. */
type Listener = (event: SandboxEvent) => void;

/** A query of the control plane and the library: `descriptions.json` explains its fields. */
type JournalQuery = ValueOf<typeof requestQuery>;

export type RequestFilter = Pick<JournalQuery, "outcome" | "key">;

const maxKept = 1000;

/** The latest requests, and the number of everything that has happened. */
export class Journal {
  readonly #capacity: number;
  readonly #listeners = new Set<Listener>();
  #kept: Exchange[] = [];
  #latest = 0;
  #total = 0;

  constructor(capacity = maxKept) {
    this.#capacity = capacity;
  }

  record(exchange: Exchange): void {
    this.#latest += 1;
    if (!exchange.isProbe) this.#total += 1;
    // Old requests go in groups: to drop one moves all others, which would cost more than the rest of a request.
    const spare = Math.ceil(this.#capacity / 8);
    if (this.#kept.length === this.#capacity + spare) this.#kept.splice(0, spare);
    this.#kept.push(exchange);
    if (this.#listeners.size > 0) notifyAll(this.#listeners, { type: "request", exchange });
  }

  emit(event: ChangeEvent): void {
    this.#latest += 1;
    if (this.#listeners.size > 0) notifyAll(this.#listeners, event);
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The number of all requests and events of this process, also of earlier starts. */
  latest(): number {
    return this.#latest;
  }

  requests(query: JournalQuery = {}): Exchange[] {
    return matchingRequests(this.#list(), query);
  }

  find(id: string): Exchange | undefined {
    return this.#list().find((exchange) => exchange.id === id);
  }

  /** The number of requests since the start or the last `enter`, including discarded ones but not probes. */
  total(): number {
    return this.#total;
  }

  /** Discards the requests, and continues from the latest ones of `responded`. */
  enter(requests: readonly Exchange[] = [], responded = 0): void {
    [this.#kept, this.#total] = [[...requests], responded];
  }

  #list(): Exchange[] {
    return this.#kept.slice(-this.#capacity);
  }
}

function notifyAll(listeners: Iterable<Listener>, event: SandboxEvent): void {
  let failure: { readonly error: unknown } | undefined;
  for (const listener of listeners) {
    try {
      listener(event);
    } catch (error) {
      failure = { error };
    }
  }
  if (failure !== undefined) throw failure.error;
}

function matchingRequests(
  all: readonly Exchange[],
  { limit, source, probes = false, faults = true, ...filter }: JournalQuery,
): Exchange[] {
  const matching = (faults ? all : withoutFaults(all)).filter(
    (one) =>
      (probes || !one.isProbe) &&
      hasOutcome(one, filter) &&
      hasKey(one, filter) &&
      (source === undefined || sourceOf(one) === source),
  );
  return limit === undefined ? matching : matching.slice(Math.max(0, matching.length - limit));
}

export function hasOutcome({ outcome, fault }: Exchange, { outcome: wanted }: RequestFilter): boolean {
  return wanted === undefined || outcome === wanted || fault === wanted;
}

export function hasKey(exchange: Exchange, { key }: RequestFilter): boolean {
  return key === undefined || senderOf(exchange) === key;
}

/** Leaves out requests that a fault hit and that their client sent again. */
function withoutFaults(all: readonly Exchange[]): Exchange[] {
  const sentLater = new Set<string>();
  const isKept = ({ method, path, fingerprint, fault, outcome, status, isUnread }: Exchange) => {
    const name = `${method} ${path} ${fingerprint}`;
    const isRepeated = sentLater.has(name);
    sentLater.add(name);
    // A timeout may come just after the end of a delayed 401 or 403.
    const wasInVain = fault === outcome || isUnread === true || status === 401 || status === 403;
    return fault === null || !isRepeated || !wasInVain;
  };
  return [...all].reverse().filter(isKept).reverse();
}
