import type { PromisedPathId } from "../spec/outcomes.js";

/** The rules that a check reports, and why it never tries some of them. */
export const checkedRules = {
  R1: { title: "a permitted key gets 200 with data and nothing else" },
  R2: { title: "the organization is exactly id, name, type" },
  R3: { title: "environment matches the key's prefix" },
  R4: { title: "scopes are an array of one name or more" },
  R5: { title: "the limits are integers" },
  R6: { title: "usage.today is an integer and counts the current request" },
  R7: { title: "a 200 carries an X-Request-Id, never the same twice" },
  R8: { title: "parameters and a body change nothing", never: "no parameters and no body are sent" },
  R9: { title: "no header: 401" },
  R10: { title: "a malformed header: 401" },
  R11: { title: "an unknown key: 401" },
  R12: { title: "a revoked key: 401" },
  R13: { title: "an expired key: 401" },
  R14: { title: "a 401 never shows why the key was rejected: all are the same bytes" },
  R15: {
    title: "a key of one environment is unknown in the other",
    never: "no key is sent with another prefix",
  },
  R16: { title: "legacy keys work like current ones" },
  R17: { title: "the replacement of a legacy key has the current prefix", never: "nothing is rotated" },
  R18: { title: "organization not active: 403 access_denied" },
  R19: { title: "live access not approved: 403 live_access_not_approved" },
  R20: { title: "live access suspended: 403 live_access_not_approved" },
  R21: { title: "scope missing: 403 insufficient_scope" },
  R22: { title: "more than per_minute in a minute: 429" },
  R23: { title: "more than per_day in a day: 429" },
  R24: { title: "each call counts once" },
  R25: { title: "limits are per key", never: "limits of two keys are not compared" },
  R26: { title: "a replacement has the limits of the old key" },
  R27: { title: "every error body is error with code, message and perhaps details" },
  R28: { title: "code is one listed for its status; a 429 has one too" },
  R34: { title: "no response repeats the key" },
  R37: { title: "a replacement works" },
  R38: { title: "a replaced key works in its overlap and gets 401 after it" },
} as const satisfies Readonly<Record<string, { title: string; never?: string }>>;

export type CheckedRule = keyof typeof checkedRules;

/** An observation: rules that a response follows, or a difference. */
export type Observation = Pick<Difference, "rules" | "pathId"> | Difference;

/** A place where a response differs from the contract. */
export interface Difference {
  readonly rules: readonly CheckedRule[];
  readonly pathId: PromisedPathId;
  /** `status`, `connection`, `body`, a header's name, or a member's JSON path: `$.data.limits.per_day`. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
  /** The request id of the response, for support. */
  readonly requestId?: string;
}

export function isDifference(observation: Observation): observation is Difference {
  return "found" in observation;
}
