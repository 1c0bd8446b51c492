import { type AdviceId, adviceOf } from "../rules/advice.js";
import { variableOf } from "../rules/api-key.js";
import { type ApiOutcomeId, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import type { Refusal } from "../runs/conditions.js";

/** One kind of rejection, after which a client must not send the key again, or not at once. */
export interface ResendKind extends Pick<Refusal, "as" | "seconds" | "asDate"> {
  /** Its name in `--only`. */
  readonly name: string;
  /** Its words in the list of what held. */
  readonly held: string;
  /** As in "again after a 401". */
  readonly after: string;
  readonly whatToDo: string;
  /** When no other request must follow: never, or before its time. */
  readonly when: "always" | "too_soon";
}

/** The kinds of rejections for a client that covers these outcomes. */
export function resendKinds(covered: readonly OutcomeId[]): ResendKind[] {
  return [...timedKinds(covered), ...lastingKinds(covered)];
}

const seconds = 4;

function timedKinds(covered: readonly OutcomeId[]): ResendKind[] {
  const timed = { when: "too_soon" } as const;
  const limited = {
    ...timed,
    as: outcomeWith(covered, 429, "429.per_minute"),
    whatToDo: whatToDoOn("too-soon-after-429"),
  };
  return [
    {
      ...limited,
      name: "resend.429.without",
      held: "429 without Retry-After",
      after: "a 429 without `Retry-After`",
    },
    {
      ...limited,
      name: "resend.429.seconds",
      held: "429 with Retry-After",
      after: `a 429 with \`Retry-After: ${seconds}\``,
      seconds,
    },
    {
      ...limited,
      name: "resend.429.date",
      held: "429 with a date",
      after: "a 429 with a date in `Retry-After`",
      seconds,
      asDate: true,
    },
    {
      ...timed,
      name: "resend.503.seconds",
      held: "503 with Retry-After",
      after: `a 503 with \`Retry-After: ${seconds}\``,
      as: "fault.status",
      seconds,
      whatToDo: whatToDoOn("too-soon-after-503"),
    },
  ];
}

function lastingKinds(covered: readonly OutcomeId[]): ResendKind[] {
  const ofCodes = new Map<string, OutcomeId>();
  for (const outcome of covered.filter((one) => outcomeOf(one).status === 403)) {
    const code = String(outcomeOf(outcome).code);
    if (!ofCodes.has(code)) ofCodes.set(code, outcome);
  }
  const unauthorized: ResendKind = {
    name: "resend.401",
    held: "401",
    after: "a 401",
    as: outcomeWith(covered, 401, "401.revoked"),
    when: "always",
    whatToDo: whatToDoOn("same-key-after-401"),
  };
  const forbidden = [...ofCodes].map(
    ([code, outcome]): ResendKind => ({
      name: `resend.403.${code}`,
      held: `403 ${code}`,
      after: `a 403 with \`${code}\``,
      as: outcome as ApiOutcomeId, // no fault has a 403
      when: "always",
      whatToDo: whatToDoOn("same-key-after-403"),
    }),
  );
  return [unauthorized, ...forbidden];
}

const outcomeWith = (covered: readonly OutcomeId[], status: number, usual: ApiOutcomeId) =>
  (covered.find((outcome) => outcomeOf(outcome).status === status) ?? usual) as ApiOutcomeId;

const whatToDoOn = (id: AdviceId) => adviceOf(id).whatToDo;

/** The end of the variable that has the key, such as `ACTIVE`. */
export const nameOfKey = (ref: string) => variableOf(ref).replace("SVC_KEY_", "");
