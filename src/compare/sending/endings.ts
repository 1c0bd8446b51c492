/** A response that ends a comparison. */
interface EndingRow {
  /** The response, for `docs/compare.md`. */
  readonly when: string;
  /** What may have sent the response. */
  readonly suspicion: string;
}

/** The responses that end a comparison. `docs/compare.md` has this table. */
export const endings = {
  limit: {
    when: "a 429 that is not for the limit of its key, unless it can be waited for",
    suspicion: "a lock, or another limiter",
  },
  shared_limit: {
    when: "a 429 to another key, after a key has reached its limit: a difference (R25)",
    suspicion: "a limit of the organization",
  },
  locked: {
    when: "a 401 to a key that has worked",
    suspicion: "a lock of the key, or of this address",
  },
  unavailable: { when: "a 503", suspicion: "an outage, or a lock" },
  pages: { when: "two HTML pages in a row", suspicion: "an outage, or a lock" },
  silence: { when: "two requests without a response in a row", suspicion: "an outage, or a lock" },
  outage: {
    when: "two wrong responses in a row, or one to a key that has worked, if a request without a key then fails, too",
    suspicion: "an outage, or a lock",
  },
} as const satisfies Readonly<Record<string, EndingRow>>;

export type Ending = keyof typeof endings;
