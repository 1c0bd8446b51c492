import type { OutcomeId } from "../../rules/outcomes.js";

const maxRejectedKeys = 1000;
const maxOrigins = 100;

/** A history as JSON. */
export interface SavedHistory {
  readonly lastRejections: readonly (readonly [fingerprint: string, outcome: OutcomeId])[];
  readonly preflightOrigins: readonly string[];
  readonly replacementsThatWorked: readonly string[];
  readonly rotatedKeys: readonly string[];
}

/** What advice on a request depends on, besides the request: what earlier requests have shown, and which keys were rotated. */
export class ClientHistory {
  /** The outcome of the last rejection of each key, by the key's fingerprint, in the order of the rejections. */
  readonly lastRejections: Map<string, OutcomeId>;
  /** The origins of pages whose browsers sent a preflight request for a key. */
  readonly preflightOrigins: Set<string>;
  /** The refs of the replacing keys with which a client got a success: no advice depends on that of other keys. */
  readonly replacementsThatWorked: Set<string>;
  /** The refs of keys that were replaced while the sandbox ran: a client can have got their replacement. */
  readonly rotatedKeys: Set<string>;

  /** A history that goes on from a saved one. Default: an empty one. */
  constructor(saved?: SavedHistory) {
    this.lastRejections = new Map(saved?.lastRejections);
    this.preflightOrigins = new Set(saved?.preflightOrigins);
    this.replacementsThatWorked = new Set(saved?.replacementsThatWorked);
    this.rotatedKeys = new Set(saved?.rotatedKeys);
  }

  save(): SavedHistory {
    return {
      lastRejections: [...this.lastRejections],
      preflightOrigins: [...this.preflightOrigins],
      replacementsThatWorked: [...this.replacementsThatWorked],
      rotatedKeys: [...this.rotatedKeys],
    };
  }

  /** Notes the last rejection of a key. If there are too many, the key that was rejected longest ago is forgotten. */
  noteRejection(fingerprint: string, outcome: OutcomeId): void {
    this.lastRejections.delete(fingerprint);
    this.lastRejections.set(fingerprint, outcome);
    if (this.lastRejections.size <= maxRejectedKeys) return;
    const [oldest] = this.lastRejections.keys();
    if (oldest !== undefined) this.lastRejections.delete(oldest);
  }

  /** Notes the origin of a page whose browser sent a preflight request for a key; none after the first hundred. */
  notePreflight(origin: string): void {
    if (this.preflightOrigins.size < maxOrigins) this.preflightOrigins.add(origin);
  }

  forgetRequests(): void {
    this.lastRejections.clear();
    this.preflightOrigins.clear();
    this.replacementsThatWorked.clear();
  }
}
