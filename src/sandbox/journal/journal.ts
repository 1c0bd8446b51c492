import type { requestQuery } from "../../scenario/format/inputs.js";
import type { ValueOf } from "../../schema/shape.js";
import type { PlayedStep, TimelineResult } from "../steps.js";
import type { KeyView, OrganizationView } from "../views.js";
import { type Exchange, sentKeyRef, sourceOf } from "./exchange.js";

/** An event of a sandbox. Contains no keys (R34). */
export type SandboxEvent = { readonly type: "request"; readonly exchange: Exchange } | ChangeEvent;

export type ChangeEvent =
  | { readonly type: "key.created"; readonly key: KeyView }
  | { readonly type: "key.rotated"; readonly key: KeyView; readonly replacement: KeyView }
  | { readonly type: "key.revoked" | "key.updated"; readonly key: KeyView }
  | { readonly type: "organization.updated"; readonly organization: OrganizationView }
  | { readonly type: "clock.moved"; readonly now: string; readonly frozen: boolean }
  | { readonly type: "faults.changed" }
  | { readonly type: "requests.cleared" }
  | { readonly type: "timeline.step"; readonly result: TimelineResult }
  /** The result has no secret of a key that the step created. */
  | { readonly type: "story.step"; readonly result: PlayedStep }
  /** After a reset, or the start of another scenario. */
  | { readonly type: "sandbox.started"; readonly scenario: string; readonly seed: number };

export type StepEvent = Extract<SandboxEvent, { readonly type: "timeline.step" | "story.step" }>;

/** Which requests to list. */
type JournalQuery = ValueOf<typeof requestQuery>;

const journalLength = 1000;

/** The latest requests, and how many requests and events there were. */
export class Journal {
  readonly #listeners = new Set<(event: SandboxEvent) => void>();
  /** The latest requests, oldest first. */
  #kept: Exchange[] = [];
  /** How many requests, probes included, and events there were. The latest one has this number. */
  #latestNumber = 0;
  #total = 0;

  record(exchange: Exchange): void {
    this.#latestNumber += 1;
    if (!exchange.isProbe) this.#total += 1;
    this.#kept.push(exchange);
    if (this.#kept.length > journalLength) this.#kept.shift();
    for (const listener of this.#listeners) listener({ type: "request", exchange });
  }

  emit(event: ChangeEvent): void {
    this.#latestNumber += 1;
    for (const listener of this.#listeners) listener(event);
  }

  /** Tells a listener each event after it has happened, until the returned function is called. It throws nothing, and changes no sandbox. */
  subscribe(listener: (event: SandboxEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** How many requests and events this journal has had, also of scenarios before this one. */
  latestNumber(): number {
    return this.#latestNumber;
  }

  requests(query: JournalQuery = {}): Exchange[] {
    return matchingRequests(this.#kept, query);
  }

  find(id: string): Exchange | undefined {
    return this.#kept.find((exchange) => exchange.id === id);
  }

  /** The number of requests since the start or the last `replaceWith`, including discarded ones but not probes. */
  total(): number {
    return this.#total;
  }

  /** Discards the requests, and continues from these: the latest ones of `total`. */
  replaceWith(requests: readonly Exchange[] = [], total = 0): void {
    this.#kept = requests.slice(-journalLength);
    this.#total = total;
  }
}

function matchingRequests(all: readonly Exchange[], query: JournalQuery): Exchange[] {
  const { limit, source, probes = false, faults: keepsRetried = true } = query;
  // Without faults, a request that was sent again because of a fault is left out.
  const candidates = keepsRetried ? all : withoutRetried(all);
  const matching: Exchange[] = [];
  for (const exchange of candidates) {
    if (exchange.isProbe && !probes) continue;
    if (source !== undefined && sourceOf(exchange) !== source) continue;
    const { outcome = exchange.outcome, key } = query;
    if (outcome !== exchange.outcome && outcome !== exchange.fault) continue;
    if (key === undefined || key === sentKeyRef(exchange)) matching.push(exchange);
  }
  if (limit === undefined) return matching;
  return matching.slice(Math.max(0, matching.length - limit));
}

/** Leaves out each request that a fault hit, if its sender, a client or the story, has sent it again. */
function withoutRetried(all: readonly Exchange[]): Exchange[] {
  const kept: Exchange[] = [];
  const sentLater = new Set<string>();
  // The latest first, so that what was sent after a request is known.
  for (const exchange of [...all].reverse()) {
    const { method, path, fingerprint } = exchange;
    const sameRequest = `${sourceOf(exchange)} ${method} ${path} ${fingerprint}`;
    const isRetried = exchange.fault !== null && sentLater.has(sameRequest);
    sentLater.add(sameRequest);
    if (!isRetried) kept.push(exchange);
  }
  return kept.reverse();
}
