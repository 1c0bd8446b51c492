import { type AdviceId, adviceOf } from "../rules/advice.js";
import { variableOf } from "../rules/api-key.js";
import { type ApiOutcomeId, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import type { RejectionOfRun } from "../runs/conditions.js";
import { longestWait } from "./plan.js";

/** One kind of rejection, after which a client must not send the key again, or not at once. */
export interface ResendKind {
  /** Its name in `--only`. */
  readonly name: string;
  /** Its words in the list of what held. */
  readonly held: string;
  /** As in "again after a 401". */
  readonly after: string;
  readonly whatToDo: string;
  readonly rejection: RejectionOfRun;
  /** When no other request must follow: never, or before its time. */
  readonly when: "always" | "too_soon";
}

/** The kinds of rejections for a client that covers these outcomes. */
export function resendKinds(covered: readonly OutcomeId[]): ResendKind[] {
  return [...timedKinds(covered), ...lastingKinds(covered)];
}

/** How long the client may wait after it, in milliseconds: a minute, if it must wait for the next one. */
export const waitAfter = ({ when, rejection: { seconds } }: ResendKind): number =>
  when === "too_soon" && seconds === undefined ? 61_000 : longestWait;

const seconds = 4;

function timedKinds(covered: readonly OutcomeId[]): ResendKind[] {
  const limit = { kind: "rejection", as: outcomeWith(covered, 429, "429.per_minute") } as const;
  const after429 = {
    whatToDo: "Wait for Retry-After, or for the next minute, and longer each time.",
    when: "too_soon",
  } as const;
  return [
    {
      ...after429,
      name: "resend.429.without",
      held: "429 without Retry-After",
      after: "a 429 without `Retry-After`",
      rejection: limit,
    },
    {
      ...after429,
      name: "resend.429.seconds",
      held: "429 with Retry-After",
      after: `a 429 with \`Retry-After: ${seconds}\``,
      rejection: { ...limit, seconds },
    },
    {
      ...after429,
      name: "resend.429.date",
      held: "429 with a date",
      after: "a 429 with a date in `Retry-After`",
      rejection: { ...limit, seconds, asDate: true },
    },
    {
      name: "resend.503.seconds",
      held: "503 with Retry-After",
      after: `a 503 with \`Retry-After: ${seconds}\``,
      rejection: { kind: "rejection", as: "fault.status", seconds },
      whatToDo: whatToDoOn("too-soon-after-503"),
      when: "too_soon",
    },
  ];
}

function lastingKinds(covered: readonly OutcomeId[]): ResendKind[] {
  const ofCodes = new Map<string, OutcomeId>();
  for (const outcome of covered.filter((id) => outcomeOf(id).status === 403)) {
    const code = String(outcomeOf(outcome).code);
    if (!ofCodes.has(code)) ofCodes.set(code, outcome);
  }
  const unauthorized: ResendKind = {
    name: "resend.401",
    held: "401",
    after: "a 401",
    rejection: { kind: "rejection", as: outcomeWith(covered, 401, "401.revoked") },
    whatToDo: whatToDoOn("same-key-after-401"),
    when: "always",
  };
  const forbidden = [...ofCodes].map(
    ([code, outcome]): ResendKind => ({
      name: `resend.403.${code}`,
      held: `403 ${code}`,
      after: `a 403 with \`${code}\``,
      rejection: { kind: "rejection", as: outcome as ApiOutcomeId }, // no fault has a 403
      whatToDo: whatToDoOn("same-key-after-403"),
      when: "always",
    }),
  );
  return [unauthorized, ...forbidden];
}

const outcomeWith = (covered: readonly OutcomeId[], status: number, fallback: ApiOutcomeId) =>
  (covered.find((outcome) => outcomeOf(outcome).status === status) ?? fallback) as ApiOutcomeId; // no fault has it

const whatToDoOn = (id: AdviceId) => adviceOf(id).whatToDo;

/** The end of the variable that has the key, such as `ACTIVE`. */
export const nameOfKey = (ref: string) => variableOf(ref).replace("SVC_KEY_", "");
