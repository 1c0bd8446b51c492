import { type AdviceId, adviceOf } from "../../rules/advice.js";
import { keyVariable } from "../../rules/keys/key-text.js";
import { type ApiOutcomeId, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import type { RejectionOfRun } from "../../runs/conditions.js";
import type { ResendCheck } from "../checks/check.js";
import type { KeyRequest } from "../client-runs/client-run.js";
import { longestWait } from "../client-runs/timeouts.js";

/** The `Retry-After` of rejections that have one: short, and longer than a pause of a client that does not read it. */
const retryAfterSeconds = 4;

/** A minute and a little more, in milliseconds: a client may wait until the next minute begins. */
const untilNextMinute = 61_000;

/** A kind of rejection after which a client must not send the key again, or not before its time: doing it is a resend. Each kind has a check. */
export interface ResendKind {
  readonly check: ResendCheck;
  /** Its words in the list of what held, after "no resend of ACTIVE after". */
  readonly heldWords: string;
  /** The response in words, as in "sends ACTIVE again after a 401". */
  readonly responseWords: string;
  readonly whatToDo: string;
  /** What a request gets in place of its success. */
  readonly rejection: RejectionOfRun;
  /** Whether the rejection ends: the key may then be sent again, but not before its time. After any other, it must not be sent again. */
  readonly isTimed: boolean;
}

/** A kind of rejection of the last request after which the key came again, in two runs. */
export interface Suspect {
  readonly kind: "suspect";
  readonly resendKind: ResendKind;
  readonly firstRequest: KeyRequest;
  /** The requests that must not have come, one of each run, with the first one. */
  readonly requests: readonly KeyRequest[];
}

/** The kinds of rejections for a client that covers these outcomes. */
export function resendKinds(covered: readonly OutcomeId[]): ResendKind[] {
  return [...timedKinds(covered), ...untimedKinds(covered)];
}

/** How long the client may wait after it, in milliseconds. */
export function waitAfterRejection({ isTimed, rejection }: ResendKind): number {
  return isTimed && rejection.seconds === undefined ? untilNextMinute : longestWait;
}

function timedKinds(covered: readonly OutcomeId[]): ResendKind[] {
  const outcome = firstCoveredOfStatus(429, covered) ?? "429.per_minute";
  const limit = { kind: "rejection", as: outcome } as const;
  const after429 = {
    whatToDo: "Wait for Retry-After, or for the next minute, and longer each time.",
    isTimed: true,
  } as const;
  return [
    {
      ...after429,
      check: { kind: "resend", outcome, retryAfter: "without" },
      heldWords: "429 without Retry-After",
      responseWords: "a 429 without `Retry-After`",
      rejection: limit,
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
      check: { kind: "resend", outcome: "fault.status", retryAfter: "seconds" },
      heldWords: "503 with Retry-After",
      responseWords: `a 503 with \`Retry-After: ${retryAfterSeconds}\``,
      rejection: { kind: "rejection", as: "fault.status", seconds: retryAfterSeconds },
      whatToDo: fixOf("too-soon-after-503"),
      isTimed: true,
    },
  ];
}

/** A 401, and one 403 of each code that the client covers. */
function untimedKinds(covered: readonly OutcomeId[]): ResendKind[] {
  const outcomeOf401 = firstCoveredOfStatus(401, covered) ?? "401.revoked";
  const unauthorized: ResendKind = {
    check: { kind: "resend", outcome: outcomeOf401 },
    heldWords: "401",
    responseWords: "a 401",
    rejection: { kind: "rejection", as: outcomeOf401 },
    whatToDo: fixOf("same-key-after-401"),
    isTimed: false,
  };

  const kinds = [unauthorized];
  const codes = new Set<string>();
  for (const id of covered) {
    const { status, code } = outcomeRow(id);
    if (status !== 403 || codes.has(String(code))) continue;
    codes.add(String(code));
    const outcome = id as ApiOutcomeId; // no fault has a 403
    kinds.push({
      check: { kind: "resend", outcome },
      heldWords: `403 ${code}`,
      responseWords: `a 403 with \`${code}\``,
      rejection: { kind: "rejection", as: outcome },
      whatToDo: fixOf("same-key-after-403"),
      isTimed: false,
    });
  }
  return kinds;
}

/** The first covered outcome with this status, which the client expects; `undefined` if it covers none. */
function firstCoveredOfStatus(status: 401 | 429, covered: readonly OutcomeId[]): ApiOutcomeId | undefined {
  const outcome = covered.find((id) => outcomeRow(id).status === status);
  return outcome as ApiOutcomeId | undefined; // no fault has a 401 or 429
}

function fixOf(id: AdviceId): string {
  return adviceOf(id).whatToDo;
}

/** The end of the variable that has the key, such as `ACTIVE`. */
export const nameOfKey = (ref: string) => keyVariable(ref).replace("SVC_KEY_", "");
