import type { Check } from "../checks/check.js";
import { failedResult, heldUnless, type ResultOfCheck } from "../checks/judgment.js";
import { variedSeeds } from "../checks/plan.js";
import { type ClientRun, isBroken } from "../client-runs/client-run.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import type { Runs } from "../client-runs/runs.js";

// Each varied run has one variant of each row. Other parts compare their runs with those that show that the client accepts what varied.

/** A run with varied responses, and what it shows by itself. A failure needs a cause. */
export interface VariedRun {
  readonly check: Check;
  readonly run: ClientRun;
  readonly result: ResultOfCheck;
}

/** Makes the run of each seed of varied responses, once for all parts. */
export function makeVariedRunsOnce(runs: Runs): Promise<VariedRun[]> {
  return Promise.all(variedSeeds(runs.plan).map((seed) => makeSeedOnce(runs, seed)));
}

async function makeSeedOnce(runs: Runs, seed: number): Promise<VariedRun> {
  const check = { kind: "varied", seed } as const;
  const run = await runs.makeOnce({ purpose: check, conditions: { profile: "varied" }, seed });
  return { check, run, result: resultOfVaried(runs, run) };
}

/** Makes the run, once, in which each response has other variants than the one before. */
export async function makeMixedRunOnce(runs: Runs): Promise<VariedRun> {
  const conditions = { profile: "varied", mixed: true } as const;
  const run = await runs.makeOnce({ purpose: mixedCheck, conditions, seed: runs.plan.firstSeed });
  return { check: mixedCheck, run, result: resultOfVaried(runs, run) };
}

export const mixedCheck = { kind: "varied", seed: "mixed" } as const satisfies Check;

function resultOfVaried({ plain }: Runs, run: ClientRun): ResultOfCheck {
  if (isBroken(run)) return failedResult;
  return heldUnless(findDoubtOfPass(plain, run, "varied"));
}

/** Awaits the varied runs, and returns those that show that the client accepts what varied. */
export async function awaitHeldVariedRuns(runs: Runs): Promise<ClientRun[]> {
  return runsWithResult(await makeVariedRunsOnce(runs), "held");
}

export function runsWithResult(variedRuns: readonly VariedRun[], kind: ResultOfCheck["kind"]): ClientRun[] {
  const withResult: ClientRun[] = [];
  for (const { run, result } of variedRuns) {
    if (result.kind === kind) withResult.push(run);
  }
  return withResult;
}
