// A client's run may have several processes, such as the workers of a test runner, each with its own sandboxes. Its conditions mean one
// request over all of them. The processes agree on it by claims: a name that only one of them can claim.

/** Claims a name for this process. Returns whether no process of the run had claimed it before. */
export type ClaimOnce = (name: string) => boolean;

/** Returns a claim among the sandboxes of one process. */
export function claimHere(): ClaimOnce {
  const claimed = new Set<string>();
  return (name) => {
    if (claimed.has(name)) return false;
    claimed.add(name);
    return true;
  };
}

/**
 * Numbers the requests with a key, from 1, over all processes: each claims the first number that is free. As an example, the processes
 * A and B get requests in the order A, B, A, A. They claim 1, 2, 3 and 4; for the third request, A tries 2, which B has, and then 3.
 */
export class ClaimedNumbers {
  readonly #claim: ClaimOnce;
  readonly #last: number;
  /** The lowest number that may be free. */
  #next = 1;

  /** `last`: the last number that can be claimed. */
  constructor(claim: ClaimOnce, last: number) {
    this.#claim = claim;
    this.#last = last;
  }

  /** Claims the number of a request; `undefined` if all numbers are claimed. */
  claimNext(): number | undefined {
    while (this.#next <= this.#last) {
      const number = this.#next;
      this.#next += 1;
      if (this.#claim(`request-${number}`)) return number;
    }
    return undefined;
  }
}
