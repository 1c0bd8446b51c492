import type { OutcomeId } from "../../rules/outcomes.js";

/** What advice on a request depends on, besides the request: what earlier requests have shown, and which keys were rotated. */
export class ClientBehavior {
  /** The outcome of each key's last rejection, by the key's fingerprint; the latest thousand keys, oldest first. */
  readonly lastRejections = new Map<string, OutcomeId>();
  /** The origins of pages whose browsers sent a preflight request for a key; the first hundred. */
  readonly preflightOrigins = new Set<string>();
  /** The refs of keys with which a client got a success, at least of those in a rotation. */
  readonly keysThatWorked = new Set<string>();
  /** The refs of keys that were replaced while the sandbox ran: a client can have got their replacement. */
  readonly rotatedKeys = new Set<string>();

  /** Forgets what requests have shown. */
  forgetRequests(): void {
    this.lastRejections.clear();
    this.preflightOrigins.clear();
    this.keysThatWorked.clear();
  }
}
