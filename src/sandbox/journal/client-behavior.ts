import type { OutcomeId } from "../../rules/outcomes.js";

/** What advice on a request depends on, besides the request: what earlier requests have shown, and which keys were rotated. */
export class ClientBehavior {
  /** The SHA-256 of the key that stories send as `unknown`. */
  readonly unknownKeyHash: string;
  /** The outcome of each key's last rejection, by the key's fingerprint; the latest thousand keys, oldest first. */
  readonly rejected = new Map<string, OutcomeId>();
  /** The origins of pages whose browsers sent a preflight request for a key; the first hundred. */
  readonly pages = new Set<string>();
  /** The refs of keys with which a client got a 200, of those in a rotation. */
  readonly workedKeys = new Set<string>();
  /** The refs of keys that were replaced while the sandbox ran: a client can have got their replacement. */
  readonly rotatedKeys = new Set<string>();

  constructor(unknownKeyHash: string) {
    this.unknownKeyHash = unknownKeyHash;
  }

  /** Forgets what requests have shown. */
  forgetRequests(): void {
    this.rejected.clear();
    this.pages.clear();
    this.workedKeys.clear();
  }
}
