import type { OutcomeId } from "../../rules/outcomes.js";

const maxRejectedKeys = 1000;
const maxOrigins = 100;

/** What advice on a request depends on, besides the request: what earlier requests have shown, and which keys were rotated. */
export class ClientBehavior {
  readonly #lastRejections = new Map<string, OutcomeId>();
  readonly #preflightOrigins = new Set<string>();
  /** The refs of keys with which a client got a success. A key in no rotation may be left out, since no advice depends on it. */
  readonly keysThatWorked = new Set<string>();
  /** The refs of keys that were replaced while the sandbox ran: a client can have got their replacement. */
  readonly rotatedKeys = new Set<string>();

  /** The outcome of the last rejection of each key, by the key's fingerprint, in the order of the rejections. */
  get lastRejections(): ReadonlyMap<string, OutcomeId> {
    return this.#lastRejections;
  }

  /** The origins of pages whose browsers sent a preflight request for a key. */
  get preflightOrigins(): ReadonlySet<string> {
    return this.#preflightOrigins;
  }

  /** Notes the last rejection of a key. If there are too many, the key that was rejected longest ago is forgotten. */
  noteRejection(fingerprint: string, outcome: OutcomeId): void {
    this.#lastRejections.delete(fingerprint);
    if (this.#lastRejections.size === maxRejectedKeys) {
      const oldest = this.#lastRejections.keys().next().value as string; // there are a thousand
      this.#lastRejections.delete(oldest);
    }
    this.#lastRejections.set(fingerprint, outcome);
  }

  forgetRejection(fingerprint: string): void {
    this.#lastRejections.delete(fingerprint);
  }

  /** Notes the origin of a page whose browser sent a preflight request for a key; none after the first hundred. */
  notePreflight(origin: string): void {
    if (this.#preflightOrigins.size < maxOrigins) this.#preflightOrigins.add(origin);
  }

  forgetRequests(): void {
    this.#lastRejections.clear();
    this.#preflightOrigins.clear();
    this.keysThatWorked.clear();
  }
}
