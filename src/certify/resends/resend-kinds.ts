import { type AdviceId, adviceOf } from "../../rules/advice.js";
import { keyVariable } from "../../rules/keys/key-text.js";
import { type ApiOutcomeId, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import type { RejectionInstead } from "../../runs/conditions.js";
import type { ResendCheck } from "../checks/check.js";
import { longestWait } from "../client-runs/client-run.js";

/** A kind of rejection after which a client must not send the key again, or not before its time: doing it is a resend. Each kind has a check. */
export interface ResendKind {
  readonly check: ResendCheck;
  /** Its words in the list of what held, after "no resend of ACTIVE after". */
  readonly heldWords: string;
  /** The response in words, as in "sends ACTIVE again after a 401". */
  readonly responseWords: string;
  readonly whatToDo: string;
  readonly rejection: RejectionInstead;
  /** How long the client may wait after it, in milliseconds. */
  readonly clientMayWaitMs: number;
  /** Whether the rejection ends: the key may then be sent again, but not before its time. After any other, it must not be sent again. */
  readonly isTimed: boolean;
}

/** The `Retry-After` of rejections that have one: short, and longer than a pause of a client that does not read it. */
export const retryAfterSeconds = 4;

/** A minute and a little more, in milliseconds: a client may wait until the next minute begins. */
const untilNextMinute = 61_000;

/** The kinds of rejections for a client that covers these outcomes: those with a time, a 401, and one 403 of each code that it covers. */
export function resendKinds(covered: readonly OutcomeId[]): ResendKind[] {
  // What the client expects: no fault has one of these statuses.
  const firstWithStatus = (status: 401 | 429) =>
    covered.find((id) => outcomeRow(id).status === status) as ApiOutcomeId | undefined;
  const outcome = firstWithStatus(429) ?? "429.per_minute";
  const limit = { kind: "rejection", as: outcome } as const;
  const after429 = {
    whatToDo: "Wait for Retry-After, or for the next minute, and longer each time.",
    clientMayWaitMs: longestWait,
    isTimed: true,
  } as const;
  const kinds: ResendKind[] = [
    {
      ...after429,
      check: { kind: "resend", outcome, retryAfter: "without" },
      heldWords: "429 without Retry-After",
      responseWords: "a 429 without `Retry-After`",
      rejection: limit,
      clientMayWaitMs: untilNextMinute,
    },
    {
      ...after429,
      check: { kind: "resend", outcome, retryAfter: "seconds" },
      heldWords: "429 with Retry-After",
      responseWords: `a 429 with \`Retry-After: ${retryAfterSeconds}\``,
      rejection: { ...limit, seconds: retryAfterSeconds },
    },
    {
      ...after429,
      check: { kind: "resend", outcome, retryAfter: "date" },
      heldWords: "429 with a date",
      responseWords: "a 429 with a date in `Retry-After`",
      rejection: { ...limit, seconds: retryAfterSeconds, asDate: true },
    },
    {
      ...after429,
      check: { kind: "resend", outcome: "fault.status", retryAfter: "seconds" },
      heldWords: "503 with Retry-After",
      responseWords: `a 503 with \`Retry-After: ${retryAfterSeconds}\``,
      rejection: { kind: "rejection", as: "fault.status", seconds: retryAfterSeconds },
      whatToDo: adviceOf("too-soon-after-503").whatToDo,
    },
  ];

  const outcomeOf401 = firstWithStatus(401) ?? "401.revoked";
  kinds.push(untimedKind(outcomeOf401, "401", "a 401", "same-key-after-401"));
  const codes = new Set<string>();
  for (const id of covered) {
    const { status, code } = outcomeRow(id);
    if (status !== 403 || codes.has(String(code))) continue;
    codes.add(String(code));
    const outcomeOf403 = id as ApiOutcomeId; // no fault has a 403
    kinds.push(untimedKind(outcomeOf403, `403 ${code}`, `a 403 with \`${code}\``, "same-key-after-403"));
  }
  return kinds;
}

function untimedKind(
  outcome: ApiOutcomeId,
  heldWords: string,
  responseWords: string,
  advice: AdviceId,
): ResendKind {
  return {
    check: { kind: "resend", outcome },
    heldWords,
    responseWords,
    rejection: { kind: "rejection", as: outcome },
    whatToDo: adviceOf(advice).whatToDo,
    clientMayWaitMs: longestWait,
    isTimed: false,
  };
}

export const nameOfKey = (ref: string) => keyVariable(ref).replace("SVC_KEY_", "");
