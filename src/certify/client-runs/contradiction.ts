import { hidesOutcomes } from "../../runs/conditions.js";
import { nameOf } from "../checks/check.js";
import { fixHiddenDependency, type Reason, runTooLate } from "../checks/judgment.js";
import type { EndedRun, PlannedRun } from "./client-run.js";

/** Two runs under the same conditions that ended differently. No failure of any run shows anything then. */
export interface Contradiction {
  readonly failed: EndedRun;
  readonly passed: EndedRun;
}

/** Equal for runs under the same conditions: their purposes may differ. */
export function conditionsId({ seed, conditions }: Pick<PlannedRun, "seed" | "conditions">): string {
  return JSON.stringify([seed, conditions]);
}

/** The first contradiction of these runs, in the order in which they ended; `undefined` if there is none. */
export function findContradiction(runs: readonly EndedRun[]): Contradiction | undefined {
  const firstFailed = new Map<string, EndedRun>();
  const firstPassed = new Map<string, EndedRun>();
  for (const run of runs) {
    // A rejection or a wrong answer may leave open what the client does.
    if (hidesOutcomes(run.conditions)) continue;

    const id = conditionsId(run);
    const firstAlike = run.result === "passed" ? firstPassed : firstFailed;
    if (!firstAlike.has(id)) firstAlike.set(id, run);

    const failed = firstFailed.get(id);
    const passed = firstPassed.get(id);
    if (failed !== undefined && passed !== undefined) return { failed, passed };
  }
  return undefined;
}

/** Why a failure shows nothing after a contradiction. */
export function whyUnstable({ failed, passed }: Contradiction): Reason {
  if (failed.purpose.kind === "plain" && failed.number > passed.number) {
    if (failed.result === "timed_out") {
      return {
        why: `the command no longer passes: the plain run passed in run ${passed.number}, and did not end in time in run ${failed.number}`,
        whatToDo: `${runTooLate.whatToDo} If it never ends, find out what your tests leave behind, such as a lock or a connection.`,
      };
    }
    return {
      why: `the command no longer passes: the plain run passed in run ${passed.number}, and failed in run ${failed.number}`,
      whatToDo:
        "Find out what your tests leave behind, such as a row, a file or a name that must be new, or what they use up. If it fails at random, find out what else it depends on: time, order, other tests.",
    };
  }
  const name = nameOf(failed.purpose);
  return {
    why: `the command passes and fails under the same conditions (${name}, runs ${failed.number} and ${passed.number})`,
    whatToDo: fixHiddenDependency,
  };
}
