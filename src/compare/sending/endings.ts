/** The responses that end a comparison, with what may have sent them. `docs/compare.md` has this table. */
export const endings = {
  outage: {
    when: "a wrong response, if a request without a key, or one with a key that has worked, then no longer gets what it got before",
    suspicion: "an outage, a lock or a limit",
  },
  limit: {
    when: "a 429 that was not asked for: the second one, or one that cannot be waited for",
    suspicion: "a lock, or another limiter",
  },
  shared_limit: {
    when: "a 429 to another key, after a key has reached its limit: a difference (R25)",
    suspicion: "a limit of the organization",
  },
} as const;

export type Ending = keyof typeof endings;
