import type { outcomes } from "../rules/outcomes.js";

/** The rules that a comparison tests, in short. `docs/specification.md` has them all. */
export const contractRules = {
  R1: "A working key gets 200 and JSON",
  R2: "The organization has exactly id, name and type",
  R3: "The environment is that of the key's prefix",
  R4: "The scopes are those of the key",
  R5: "The limits are whole numbers",
  R6: "usage.today counts this request, too",
  R7: "Each 200 has a request id of its own",
  R9: "A missing key gets 401 unauthorized",
  R10: "A malformed key gets 401 unauthorized",
  R11: "An unknown key gets 401 unauthorized",
  R12: "A revoked key gets 401 unauthorized",
  R13: "An expired key gets 401 unauthorized",
  R14: "A rejected key never shows which part was wrong",
  R15: "A key does not work in the other environment",
  R16: "A legacy key works until it is rotated",
  R18: "A key of an inactive organization gets 403 access_denied",
  R19: "A live key without approved live access gets 403 live_access_not_approved",
  R20: "A live key whose live access is suspended gets 403 live_access_not_approved",
  R21: "A key without the scope gets 403 insufficient_scope",
  R22: "More than per_minute requests in a minute get 429",
  R23: "More than per_day requests in a day get 429",
  R24: "Each request counts as one",
  R25: "A key at its limit does not affect another key",
  R26: "A replacement has the limits of the old key",
  R27: "An error is JSON with code and message",
  R28: "The code of an error is listed for its status",
  R34: "No response shows a key",
  R37: "A replacement works at once, with the same scopes",
  R38: "A replaced key works during its overlap, and then gets 401",
  "RFC 9110": "HTTP itself: a client must be able to read the header",
} as const;

export type ContractRule = keyof typeof contractRules;

/** The id of an outcome that the specification promises: a contract can be compared with these only. */
export type PromisedOutcomeId = Extract<(typeof outcomes)[number], { readonly promised: true }>["id"];

/** A difference in a response, whichever request has got it. */
export interface ResponseDifference {
  readonly rules: readonly ContractRule[];
  /** A header's name, a member's JSON path (`$.data.limits.per_day`), or another place in words, such as `status`. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

/** A place where a response differs from the contract. */
export interface ContractDifference extends ResponseDifference {
  readonly outcome: PromisedOutcomeId;
  /** That of the first response that has shown it. */
  readonly requestId?: string;
  /** The words of the error that came in place of another status. */
  readonly message?: string;
  /** In how many of the responses to its request it was: `3 of 3 times`. */
  readonly seen?: string;
}

/** What was not judged of some outcomes: what came at a place, or a rule, such as `R14`, for which nothing is there to compare. */
export interface Unjudged {
  readonly at: string;
  readonly why: string;
  readonly outcomes: readonly PromisedOutcomeId[];
}
