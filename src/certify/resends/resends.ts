import { sureWaits, sureWaitsOfSingleKind } from "../checks/chance.js";
import {
  failedResult,
  type Held,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  type NotJudged,
  nothingJudged,
  notJudged,
} from "../checks/judgment.js";
import { isWanted } from "../checks/plan.js";
import type { Runs } from "../client-runs/runs.js";
import type { WorkingKey } from "./replaced-run.js";
import { type ResendKind, resendKinds, type Suspect } from "./resend-kinds.js";
import { resendProblem } from "./resend-problem.js";
import { weighSuspects } from "./resend-suspects.js";
import { type ResendTrial, resultOfTrial } from "./resend-trial.js";
import { findSteadyKey } from "./steady-key.js";

// A resend is a request that must not come: with the same key, after a 401 or 403, or too soon after a 429 or 503. It is found without
// looking into the client: a run rejects the last request with a key that each run sends equally often. A client that does right gives
// up, its test fails, and nothing follows. What follows is one request more than in the plain run.
// 1. Find such a key (steady-key.ts).
// 2. Reject its last request with each kind of rejection, in run after run until they agree (resend-trial.ts): the kind holds, or is a suspect.
// 3. Exclude other reasons for the requests of suspects (resend-suspects.ts). What is left is a problem.

/** A kind, and what the runs show that reject the last request with it. */
interface TriedKind {
  readonly resendKind: ResendKind;
  readonly result: Held | NotJudged | Suspect;
}

/** Judges each kind of resend. */
export async function judgeResends(runs: Runs): Promise<Judgment> {
  const kinds = resendKinds(runs.outcomesToJudge).filter(({ check }) => isWanted(runs.plan, check));
  if (kinds.length === 0) return nothingJudged;

  const found = await findSteadyKey(runs);
  if (found.kind === "not_judged") {
    return { ...nothingJudged, checks: kinds.map(({ check }) => ({ check, result: found })) };
  }
  const { key } = found;

  const timed = kinds.filter(({ isTimed }) => isTimed);
  const untimed = kinds.filter(({ isTimed }) => !isTimed);
  return mergeJudgments(await Promise.all([judgeKinds(runs, key, timed), judgeKinds(runs, key, untimed)]));
}

/** Judges all timed kinds, or all others. Those of them that fail are one problem together. */
async function judgeKinds(runs: Runs, key: WorkingKey, kinds: readonly ResendKind[]): Promise<Judgment> {
  const neededWaits = kinds.length === 1 ? sureWaitsOfSingleKind : sureWaits;
  const triedKinds = await Promise.all(
    kinds.map((resendKind) => tryKind({ runs, key, resendKind, neededWaits })),
  );
  const suspects: Suspect[] = [];
  const checks: JudgedCheck[] = [];
  for (const { resendKind, result } of triedKinds) {
    if (result.kind === "suspect") suspects.push(result);
    else checks.push({ check: resendKind.check, result });
  }

  const proven: Suspect[] = [];
  for (const { suspect, doubt } of await weighSuspects(runs, key, suspects)) {
    const { check } = suspect.resendKind;
    checks.push({ check, result: doubt === undefined ? failedResult : notJudged(doubt) });
    if (doubt === undefined) proven.push(suspect);
  }
  const problems = proven.length === 0 ? [] : [resendProblem(proven, key, runs.plan)];
  return { checks, problems, notes: [] };
}

async function tryKind(trial: ResendTrial): Promise<TriedKind> {
  return { resendKind: trial.resendKind, result: await resultOfTrial(trial) };
}
