import type { AdviceId } from "../../rules/advice.js";
import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import { type ApiOutcomeId, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";

// Users see a check as a text, its name: in `--only`, in progress and in certificates. Only this file writes a name, or takes one apart; others
// compare whole names. A name has these words, by the kind of its check:
//
//     varied.3, varied.mixed             the seed
//     answer.401.revoked                 the outcome
//     resend.401                         the status
//     resend.403.insufficient_scope      the status and the code
//     resend.429.date                    the status and the form of its Retry-After
//     fault.hang                         the outcome, which begins with fault
//     advice, advice.key-in-url          the advice, if any

/** One question about the client. */
export type Check =
  /** Whether it accepts what varies. `mixed`: each response of the run has other variants than the one before. */
  | { readonly kind: "varied"; readonly seed: number | "mixed" }
  /** Whether the command notices a wrong answer to a request that ends on this outcome. */
  | { readonly kind: "answer"; readonly outcome: OutcomeId }
  | ResendCheck
  /** Whether the client survives this fault. */
  | { readonly kind: "fault"; readonly outcome: FaultOutcomeId }
  /** Whether a run has advice of level error: this one, or none at all. */
  | { readonly kind: "advice"; readonly id?: AdviceId };

/** The groups of checks, of which each must be judged: whatever needs a row for each of them, the compiler asks for it. */
export type Group = Exclude<Check["kind"], "advice">;

/** What a group tries, and what a client does that holds all of it. */
export const groupWords: Readonly<Record<Group, { readonly tried: string; readonly held: string }>> = {
  varied: { tried: "varied runs", held: "varied responses" },
  answer: { tried: "wrong answers", held: "wrong answers noticed" },
  resend: { tried: "resends", held: "resends" },
  fault: { tried: "faults", held: "faults" },
};

export const groups = Object.keys(groupWords) as Group[]; // its keys are the groups

/** Whether the client sends a key again after this rejection, or before its time. */
export interface ResendCheck {
  readonly kind: "resend";
  readonly outcome: ApiOutcomeId | "fault.status";
  /** Of a rejection that ends: the form of its `Retry-After`. */
  readonly retryAfter?: "without" | "seconds" | "date";
}

/** What a run is made for: a check, or to compare other runs with it. `resend_control`: a 404 in place of a rejection. */
export type RunPurpose = Check | { readonly kind: "plain" | "resend_control" };

export function nameOf(subject: RunPurpose): string {
  return wordsOf(subject).join(".");
}

function wordsOf(subject: RunPurpose): readonly string[] {
  switch (subject.kind) {
    case "plain":
      return ["plain"];
    case "varied":
      return ["varied", String(subject.seed)];
    case "answer":
      return ["answer", ...subject.outcome.split(".")];
    case "resend": {
      const { outcome, retryAfter } = subject;
      const { status, code } = outcomeRow(outcome);
      if (outcome === "fault.status") return ["resend", "503", String(retryAfter)];
      if (retryAfter !== undefined) return ["resend", String(status), retryAfter];
      // A client may treat each code of a 403 in another way.
      return status === 403 ? ["resend", "403", String(code)] : ["resend", String(status)];
    }
    case "resend_control":
      return ["resend"];
    case "fault":
      return subject.outcome.split(".");
    case "advice":
      return subject.id === undefined ? ["advice"] : ["advice", subject.id];
  }
}

/** The checks of resends of a client that covers these outcomes: after a 401, after a 403 of each code that it covers, and after a 429 and a 503, which end. */
export function resendChecks(covered: readonly OutcomeId[]): ResendCheck[] {
  const checks: ResendCheck[] = [resendAfter401(covered)];
  const codes = new Set<string>();
  for (const id of covered) {
    const { status, code } = outcomeRow(id);
    if (status !== 403 || codes.has(String(code))) continue;
    codes.add(String(code));
    checks.push({ kind: "resend", outcome: id as ApiOutcomeId }); // no fault has a 403
  }

  const limit = firstWithStatus(covered, 429) ?? "429.per_minute";
  checks.push(
    { kind: "resend", outcome: limit, retryAfter: "without" },
    { kind: "resend", outcome: limit, retryAfter: "seconds" },
    { kind: "resend", outcome: limit, retryAfter: "date" },
    { kind: "resend", outcome: "fault.status", retryAfter: "seconds" },
  );
  return checks;
}

export function resendAfter401(covered: readonly OutcomeId[]): ResendCheck {
  return { kind: "resend", outcome: firstWithStatus(covered, 401) ?? "401.revoked" };
}

/** What the client expects. No fault has one of these statuses. */
function firstWithStatus(covered: readonly OutcomeId[], status: 401 | 429): ApiOutcomeId | undefined {
  return covered.find((id) => outcomeRow(id).status === status) as ApiOutcomeId | undefined;
}

/** Whether a problem is about this check. One of advice lists the runs that have the advice, and is about none of their checks. */
export function isProblemOf(
  problem: { readonly name: string; readonly runs: readonly string[] },
  check: Check,
) {
  const name = nameOf(check);
  if (problem.name === name) return true;
  const isOfAdvice = problem.name.split(".")[0] === "advice";
  return !isOfAdvice && problem.runs.includes(name);
}

/** Whether a name of `--only` asks for this check: its words are the first ones of the check's name. */
export function asksFor(name: string, check: RunPurpose): boolean {
  const words = wordsOf(check);
  return name.split(".").every((word, at) => word === words[at]);
}

/** The seed of a varied run that a name of `--only` asks for, such as `varied.3`; `undefined` for any other name, such as `varied.03`. */
export function seedIn(name: string): number | undefined {
  const [group, seed = "", ...more] = name.split(".");
  const isSeed = group === "varied" && more.length === 0 && /^(?:0|[1-9]\d{0,14})$/.test(seed);
  return isSeed ? Number(seed) : undefined;
}
