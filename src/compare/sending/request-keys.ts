import { keysInVariables } from "../contract/key-variables.js";
import { createRedactKeys, type RedactKeys } from "../response/redact-keys.js";
import type { AttemptRequest } from "./attempt.js";
import type { CompareOptions } from "./compare-options.js";

/** The keys of a comparison: those of the server, in variables, and those that the comparison makes itself. */
export class RequestKeys {
  readonly #unknownKey: CompareOptions["unknownKey"];
  readonly #keysByVariable: ReadonlyMap<string, string>;
  readonly #unknownKeys: string[] = [];
  #redact: RedactKeys;

  constructor({ env, unknownKey }: CompareOptions) {
    this.#unknownKey = unknownKey;
    this.#keysByVariable = new Map(keysInVariables(env));
    this.#redact = createRedactKeys([...this.#keysByVariable.values()]);
  }

  /** Removes the server's keys and the unknown keys from texts. A malformed key, such as `not-a-key`, is no secret. */
  get redact(): RedactKeys {
    return this.#redact;
  }

  /** Returns the key of the nth request for an outcome: that of its variable, or a new one; `undefined` for a missing key. */
  keyFor({ outcome, variable }: AttemptRequest, nth: number): string | undefined {
    if (variable !== undefined) return this.#keysByVariable.get(variable);
    if (outcome === "401.malformed") return nth === 1 ? "not-a-key" : `not-a-key${nth - 1}`;
    if (outcome !== "401.unknown") return undefined;

    const unknownKey = this.#unknownKey(nth - 1);
    this.#unknownKeys.push(unknownKey);
    this.#redact = createRedactKeys([...this.#keysByVariable.values(), ...this.#unknownKeys]);
    return unknownKey;
  }
}
