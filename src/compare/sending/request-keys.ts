import { keysInVariables } from "../contract/keys-of-outcomes.js";
import { createRedactKeys, type RedactKeys } from "../response/redact-keys.js";
import type { AttemptRequest } from "./attempt.js";
import type { CompareOptions } from "./compare-options.js";

/** The keys of a comparison: those of the server, in variables, and those that the comparison makes itself. */
export class RequestKeys {
  readonly #unknownKey: CompareOptions["unknownKey"];
  /** Each key that was sent or may be sent. */
  readonly #keys: string[];
  #redact: RedactKeys;

  constructor({ env, unknownKey }: CompareOptions) {
    this.#unknownKey = unknownKey;
    this.#keys = keysInVariables(env).map(([, apiKey]) => apiKey);
    this.#redact = createRedactKeys(this.#keys);
  }

  /** Removes every key of the comparison from texts. */
  get redact(): RedactKeys {
    return this.#redact;
  }

  /** Returns the key of the nth request for an outcome: the server's, or a new one; `undefined` for a missing key. */
  keyFor({ outcome, apiKey, variable }: AttemptRequest, nth: number): string | undefined {
    if (variable !== undefined) return apiKey;
    if (outcome === "401.malformed") return nth === 1 ? "not-a-key" : `not-a-key${nth - 1}`;
    if (outcome !== "401.unknown") return undefined;

    const unknownKey = this.#unknownKey(nth - 1);
    this.#keys.push(unknownKey);
    this.#redact = createRedactKeys(this.#keys);
    return unknownKey;
  }
}
