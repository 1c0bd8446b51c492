import { listed } from "../../schema/words.js";
import { nameOf } from "../checks/check.js";
import {
  type Finding,
  failedResult,
  type JudgedCheck,
  type Judgment,
  mergeJudgments,
  nothingJudged,
  notJudged,
  type Reason,
} from "../checks/judgment.js";
import { type CertifyPlan, isWanted } from "../checks/plan.js";
import type { KeyRequest } from "../client-runs/client-run.js";
import { againWithOnly } from "../client-runs/finding-parts.js";
import { type Runs, shownOr } from "../client-runs/runs.js";
import { lastRequest, msIfTooEarly, type WorkingKey } from "./reaction.js";
import { type SuspectedKind, tryKind } from "./rejection-trial.js";
import { nameOfKey, type ResendKind, resendKinds } from "./resend-kinds.js";
import { findSteadyKey } from "./steady-key.js";
import { weighSuspects } from "./suspects.js";

// A resend is a request that must not come: with the same key, after a 401 or 403, or too soon after a 429 or 503 (resend-kinds.ts). It is
// found without looking into the client: a run rejects the last request with a key that each run sends equally often. A client that does
// right gives up, its test fails, and nothing follows. What follows is one request more than in the plain run (reaction.ts).
// 1. Find such a key (steady-key.ts).
// 2. Reject its last request with each kind of rejection, in run after run until they agree (rejection-trial.ts): the kind holds, or is a suspect.
// 3. Exclude other reasons for the requests of suspects (suspects.ts). What is left is a problem.

export async function judgeResends(runs: Runs): Promise<Judgment> {
  const kinds = resendKinds(runs.outcomesToJudge).filter(({ check }) => isWanted(runs.plan, check));
  if (kinds.length === 0) return nothingJudged;

  const found = await shownOr(findSteadyKey(runs), notJudged);
  if (found.kind === "not_judged") {
    return { ...nothingJudged, checks: kinds.map(({ check }) => ({ check, result: found })) };
  }
  const { key } = found;

  const timed = kinds.filter(({ isTimed }) => isTimed);
  const untimed = kinds.filter(({ isTimed }) => !isTimed);
  return mergeJudgments(await Promise.all([judgeKinds(runs, key, timed), judgeKinds(runs, key, untimed)]));
}

/** In so many runs, the next request must come in time before a kind with a time holds. */
const sureWaits = 2;
/** One more for a single timed kind: no other kind would show a client that waits at random. */
const sureWaitsOfSingleKind = 3;

/** Judges all timed kinds, or all others. Those of them that fail are one problem together. */
async function judgeKinds(runs: Runs, key: WorkingKey, kinds: readonly ResendKind[]): Promise<Judgment> {
  const neededWaits = kinds.length === 1 ? sureWaitsOfSingleKind : sureWaits;
  const triedKinds = await Promise.all(
    kinds.map(async (resendKind) => {
      const turn = { key, request: lastRequest(key), resendKind };
      const result = await shownOr(tryKind(runs, turn, neededWaits), notJudged);
      return { check: resendKind.check, result };
    }),
  );
  const suspects: SuspectedKind[] = [];
  const checks: JudgedCheck[] = [];
  for (const { check, result } of triedKinds) {
    if (result.kind === "suspect") suspects.push(result);
    else checks.push({ check, result });
  }

  const proven: SuspectedKind[] = [];
  const allInDoubt = (reason: Reason) => new Map(suspects.map((suspect) => [suspect, reason]));
  for (const [suspect, doubt] of await shownOr(weighSuspects(runs, key, suspects), allInDoubt)) {
    const { check } = suspect.resendKind;
    checks.push({ check, result: doubt === undefined ? failedResult : notJudged(doubt) });
    if (doubt === undefined) proven.push(suspect);
  }
  const problems = proven.length === 0 ? [] : [resendProblem(proven, key, runs.plan)];
  return { checks, problems, notes: [] };
}

function resendProblem(suspects: readonly SuspectedKind[], { ref }: WorkingKey, plan: CertifyPlan): Finding {
  const names: string[] = [];
  const times: string[] = [];
  // Ids of requests do not depend on what was rejected, so several kinds often have the same id.
  const ids = new Set<string>();
  const fixes = new Set<string>();
  // All of them have a time, or none has one.
  const isTimed = suspects.some(({ resendKind }) => resendKind.isTimed);
  for (const { resendKind, resends } of suspects) {
    const { check, responseWords, whatToDo } = resendKind;
    const first = resends[0] as KeyRequest; // a suspect has one
    const after = `after ${responseWords}`;
    names.push(nameOf(check));
    times.push(isTimed ? `${msIfTooEarly(first)} ms ${after}` : after);
    ids.add(first.id);
    fixes.add(whatToDo);
  }
  if (isTimed) fixes.add("(If your tests replace the pause, move the sandbox's clock by it.)");
  fixes.add(
    "If it is not your client that sends it, but each test (polling) or their runner (a retry of failed tests), turn that off.",
  );

  const requestWord = ids.size === 1 ? "request" : "requests";
  const notAfter404 = isTimed ? "" : ", and not after a 404";
  const sentence = `Sends ${nameOfKey(ref)} again ${listed(times, "and")} (${requestWord} ${listed([...ids], "and")})`;
  return {
    name: names[0] as string, // of a problem, there is a suspect
    // Nothing that runs show tells the client, its tests and its runner apart.
    sentence: `${sentence}${notAfter404}: by the client, by a test that waits, or by its runner's retry of a failed test`,
    whatToDo: [...fixes].join(" "),
    again: againWithOnly(plan, names),
    runs: names,
  };
}
