import { nameOf } from "../checks/check.js";
import type { CertifyPlan } from "../checks/plan.js";
import type { ClientRun } from "./client-run.js";

/** The words of a command of svc-sandbox that shows a problem again, with the flags that its run needs. */
export function againCommand(
  { flags, certifyFlags }: Pick<CertifyPlan, "flags" | "certifyFlags">,
  by: "exec" | "certify",
  ...words: readonly string[]
): string[] {
  const again = [by, ...words, ...flags];
  if (by === "certify") again.push(...certifyFlags);
  return again;
}

/** The words of the command that shows this run again: `exec`, if it can. It cannot end a run by time, answer wrongly or reject. */
export function againCommandOfRun(
  { purpose, result, conditions }: Pick<ClientRun, "purpose" | "result" | "conditions">,
  plan: CertifyPlan,
): string[] {
  const isEnding = result !== "timed_out";
  if (isEnding && purpose.kind === "plain") {
    // A plain run is `minimal`, and one that failed is also tried with `typical`. The default of `exec` is the scenario's profile.
    const { profile = "minimal" } = conditions;
    const { profile: profileOfScenario = "minimal" } = plan;
    if (profile === profileOfScenario) return againCommand(plan, "exec");
    return againCommand(plan, "exec", "--profile", profile);
  }
  if (isEnding && purpose.kind === "varied" && purpose.seed !== "mixed") {
    return againCommand(plan, "exec", "--profile", "varied", "--seed", String(purpose.seed));
  }
  const words = ["--only", nameOf(purpose)];
  // The name of the mixed run does not have its seed.
  if (purpose.kind === "varied" && purpose.seed === "mixed") words.push("--seed", String(plan.firstSeed));
  return againCommand(plan, "certify", ...words);
}
