import { faultOutcomeIds, type OutcomeId } from "../rules/outcomes.js";
import { asksFor, asksForOutcome, type Check, nameOf, seedIn } from "./checks/check.js";
import type { JudgedCheck, Reason } from "./checks/judgment.js";
import type { ClientRun } from "./client-runs/client-run.js";
import type { Runs } from "./client-runs/runs.js";
import { keysToSend } from "./plain-run.js";
import { resendKinds } from "./resends/resend-kinds.js";

// The names of `--only`: does each ask for a run? And after the runs: is something of each name judged?

/** The words that names of runs begin with. */
const groupNames = ["plain", "varied", "answer", "resend", "fault"];

/**
 * Finds the first name of `--only` that asks for no run of a client that covers these outcomes, and returns all names with it; `undefined` if
 * each asks for one. A name is that of a run, the start of such a name, or a seed.
 */
export function findUnknownOnly(
  only: readonly string[],
  outcomes: readonly OutcomeId[],
): { readonly unknown: string; readonly names: readonly string[] } | undefined {
  const checks: Check[] = [{ kind: "varied", seed: "mixed" }];
  for (const outcome of outcomes) checks.push({ kind: "answer", outcome });
  for (const { check } of resendKinds(outcomes)) checks.push(check);
  for (const outcome of faultOutcomeIds) checks.push({ kind: "fault", outcome });
  const names = [...groupNames, ...checks.map(nameOf)];

  for (const name of only) {
    if (names.includes(name) || checks.some((check) => asksFor(name, check))) continue;
    if (seedIn(name) === undefined) return { unknown: name, names };
  }
  return undefined;
}

/**
 * Why nothing of a name of `--only` is judged, with the checks that are not judged for that reason. It is the first name whose checks are all
 * not judged; `undefined` if there is no such name.
 */
export function findDoubtOfOnly(
  { plan: { only = [] }, plain }: Runs,
  checks: readonly JudgedCheck[],
): (Reason & { readonly ofChecks: readonly JudgedCheck[] }) | undefined {
  for (const name of only) {
    if (name === "plain") continue;
    const checksOfName = checks.filter(({ check }) => asksFor(name, check));
    const [first] = checksOfName;
    if (first === undefined) return { ...coversNoOutcome(name, plain), ofChecks: [] };

    const isAnyJudged = checksOfName.some(({ result }) => result.kind !== "not_judged");
    if (isAnyJudged || first.result.kind !== "not_judged") continue;
    const { why, whatToDo } = first.result.reason;
    const ofChecks = checksOfName.filter(({ result }) => {
      return result.kind === "not_judged" && result.reason.why === why;
    });
    return { why: `${name}: ${why}`, whatToDo, ofChecks };
  }
  return undefined;
}

/** Why there is no check of this name: the client covers none of the outcomes that it begins with, such as `answer.401`. */
function coversNoOutcome(name: string, { report }: ClientRun): Reason {
  const keys = keysToSend(report.outcomes.filter(({ outcome }) => asksForOutcome(name, outcome)));

  // Some outcomes need no key of the scenario, such as `401.missing`.
  let whatToDo = "Send a request that ends there, and check its response.";
  if (keys !== "") whatToDo = `Send a key that ends there, and check its response: ${keys}`;
  return { why: `the client covers no outcome of ${name}`, whatToDo };
}
