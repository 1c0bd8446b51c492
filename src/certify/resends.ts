import { keyVariable } from "../rules/api-key.js";
import { isSuccess, outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { isAnswerWanted, isNoticed, runFirstWrongAnswer } from "./answers.js";
import type { ClientRun, KeyRequest } from "./client-run.js";
import {
  type Check,
  type Finding,
  failedResult,
  type Held,
  type Judgment,
  mergeJudgments,
  type NotJudged,
  newCheck,
  notJudged,
  type Reason,
  singleCheck,
} from "./judgment.js";
import { whyRunShowsNothing } from "./not-judged.js";
import { againCommand, type CertifyPlan, isWanted } from "./plan.js";
import { nameOfKey, type ResendKind, resendKinds, waitAfterRejection } from "./resend-kinds.js";
import {
  commandThenFailed,
  onlyInSomeRuns,
  type Suspect,
  sentByOtherProcess,
  whyUnconfirmed,
  whyUnproven,
} from "./resend-suspects.js";
import type { Runs } from "./runs.js";
import {
  findSteadyKey,
  firstExtraRequest,
  runWithReplacement,
  type SteadyKey,
  whyUnnoticed,
} from "./steady-key.js";
import { runVaried } from "./varied.js";
import { resultOfRejections, type WhatFollowed } from "./what-followed.js";

// A resend is a request that must not come: with the same key, after a 401 or 403, or too soon after a 429 or 503. It is found without
// looking into the client: a run rejects the last request with a key that each run sends equally often. A client that does right gives
// up, its test fails, and nothing follows. What follows is one request more than in the plain run.

/** Whether the client sends this key again after this kind of rejection. */
interface Question {
  readonly runs: Runs;
  readonly key: SteadyKey;
  readonly resendKind: ResendKind;
  /** In how many runs the next request must come in time: three if no other timed kind would show jitter. */
  readonly minWaits: 2 | 3;
}

/** Judges each kind of resend. */
export async function judgeResends(runs: Runs): Promise<Judgment> {
  const kinds = resendKinds(runs.covered).filter(({ name }) => isWanted(runs.plan, name));
  if (kinds.length === 0) return mergeJudgments([]);

  const key = await findSteadyKey(runs);
  if (key.kind === "not_judged") return mergeJudgments(kinds.map(({ name }) => singleCheck(name, key)));

  const timed = kinds.filter(({ isTimed }) => isTimed);
  const lasting = kinds.filter(({ isTimed }) => !isTimed);
  return mergeJudgments(await Promise.all([judgeKinds(runs, key, timed), judgeKinds(runs, key, lasting)]));
}

/** Judges all timed kinds, or all others. Those that fail are one problem. */
async function judgeKinds(runs: Runs, key: SteadyKey, kinds: readonly ResendKind[]): Promise<Judgment> {
  const minWaits = kinds.length === 1 ? 3 : 2;
  const results = await Promise.all(
    kinds.map((resendKind) => judgeKind({ runs, key, resendKind, minWaits })),
  );
  const suspects = results.filter((result) => result.kind === "suspect");
  const unproven = await whyUnproven(runs, key, suspects);

  const checks: Check[] = [];
  for (const [at, result] of results.entries()) {
    const { name } = kinds[at] as ResendKind;
    if (result.kind !== "suspect") {
      checks.push(newCheck(name, result));
      continue;
    }
    const reason = unproven.get(result);
    checks.push(newCheck(name, reason === undefined ? failedResult : notJudged(reason)));
  }

  const proven = suspects.filter((suspect) => !unproven.has(suspect));
  if (proven.length === 0) return mergeJudgments([{ checks }]);
  return mergeJudgments([{ checks, problems: [resendProblem(proven, key, runs.plan)] }]);
}

/** Rejects the last request in run after run, until they show something together. */
async function judgeKind(question: Question): Promise<Held | NotJudged | Suspect> {
  const { runs, key, resendKind, minWaits } = question;
  const followed: WhatFollowed[] = [];
  const requests: KeyRequest[] = [];
  const resent: KeyRequest[] = [];
  for (;;) {
    const next = await rejectLast(question, followed.length + 1);
    if (next.kind === "not_judged") return next;
    followed.push(next);
    if (next.kind !== "nothing") requests.push(next.request);
    if (next.kind === "resent") resent.push(next.request);

    switch (resultOfRejections(followed, minWaits, runs.failuresNeeded)) {
      case "held":
        return confirmHeld(question, followed[0]);
      case "sometimes":
        return notJudged(whyUnconfirmed(key, { resendKind, requests }, onlyInSomeRuns));
      case "resent":
        return { kind: "suspect", resendKind, requests: resent };
    }
  }
}

/** Rejects the last request in a run. `nth`: which run it is, from 1. */
async function rejectLast(question: Question, nth: number): Promise<WhatFollowed | NotJudged> {
  const { runs, key, resendKind } = question;
  const settings = { nth, wait: waitAfterRejection(resendKind) };
  const replaced = await runWithReplacement(runs, key, resendKind.name, resendKind.rejection, settings);
  if (replaced.kind === "not_judged") return replaced;

  const { run, extraRequests } = replaced;
  const [next] = extraRequests;
  if (next === undefined) {
    if (isNoticed(run)) return { kind: "nothing", run };
    const nothingShown = whyRunShowsNothing(runs.plain, run, "replaced");
    return notJudged(nothingShown ?? whyUnnoticed(key, resendKind.responseWords));
  }

  // A test that failed may send the key again, to find out why.
  if (isNoticed(run))
    return notJudged(whyUnconfirmed(key, { resendKind, requests: [next] }, commandThenFailed));
  if (!resendKind.isTimed) return { kind: "resent", request: next };

  if (next.isElsewhere) return notJudged(sentByOtherProcess);
  const early = extraRequests.find(({ earlyMs }) => earlyMs !== undefined);
  if (early === undefined) return { kind: "in_time", request: next };
  return { kind: "resent", request: early };
}

/** A kind holds only if the failure of its first run counts, and no other run shows a resend. */
async function confirmHeld(question: Question, first: WhatFollowed | undefined): Promise<Held | NotJudged> {
  const { runs, key } = question;
  const chance = first?.kind === "nothing" ? await runs.whyFailureMayBeChance(first.run) : undefined;
  if (chance !== undefined) return notJudged(chance);

  const contradicted = await whyContradicted(question);
  if (contradicted !== undefined) return notJudged(contradicted);
  return { kind: "held", key: key.ref };
}

/** Why a 401 or 403 does not hold, although nothing followed it: runs made for other checks show a resend. */
async function whyContradicted({ runs, key, resendKind }: Question): Promise<Reason | undefined> {
  if (resendKind.isTimed) return undefined;
  const moreRejected = await whyMoreRejected(runs, resendKind);
  if (moreRejected !== undefined) return moreRejected;
  if (outcomeRow(resendKind.rejection.as).status !== 401) return undefined;
  return whySentAgainAfterAnswer(runs, key, resendKind);
}

/** A varied run that passed, in which more requests got this rejection than in the plain run. */
async function whyMoreRejected(runs: Runs, { rejection, ...kind }: ResendKind): Promise<Reason | undefined> {
  const { status, code } = outcomeRow(rejection.as);
  const countRejected = ({ sent }: ClientRun) => {
    let count = 0;
    for (const { requests } of sent)
      for (const request of requests) {
        const outcome = outcomeRow(request.outcome);
        if (outcome.status === status && outcome.code === code) count += 1;
      }
    return count;
  };

  const { passed } = await runVaried(runs);
  const inPlain = countRejected(runs.plain);
  const run = passed.find((varied) => countRejected(varied) > inPlain);
  if (run === undefined) return undefined;
  const why = `more requests got ${kind.responseWords} in ${run.name} than in the plain run`;
  return { why, whatToDo: kind.whatToDo };
}

/**
 * A run for a wrong answer that passed, although the first request with the key got a 401 in place of its 200, and the key came again. A
 * first test that polls looks the same.
 */
async function whySentAgainAfterAnswer(
  runs: Runs,
  key: SteadyKey,
  { whatToDo }: ResendKind,
): Promise<Reason | undefined> {
  for (const outcome of runs.covered) {
    if (!isSuccess(outcome) || !isAnswerWanted(runs.plan, outcome)) continue;
    const run = await runFirstWrongAnswer(runs, outcome);
    if (run?.result !== "passed") continue;
    const next = firstExtraRequest(run, key);
    if (next === undefined) continue;
    return {
      why: `in ${run.name}, ${keyVariable(key.ref)} was sent again after a 401 (${next.id}), and the command passed`,
      whatToDo: `${whatToDo} If a test waits until the key works, send the key in another test before it.`,
    };
  }
  return undefined;
}

/** The one problem of these kinds, which are all timed or all not. */
function resendProblem(suspects: readonly Suspect[], { ref }: SteadyKey, plan: CertifyPlan): Finding {
  const names: string[] = [];
  const times: string[] = [];
  // Kinds often have the same one: ids do not depend on what was rejected.
  const ids = new Set<string>();
  const fixes = new Set<string>();
  for (const { resendKind, requests } of suspects) {
    const [first] = requests as [KeyRequest, KeyRequest];
    const after = `after ${resendKind.responseWords}`;
    names.push(resendKind.name);
    times.push(resendKind.isTimed ? `${first.earlyMs} ms ${after}` : after);
    ids.add(first.id);
    fixes.add(resendKind.whatToDo);
  }

  const isTimed = suspects[0]?.resendKind.isTimed === true;
  if (isTimed) fixes.add(moveSandboxClock);
  fixes.add(turnOffTestRetries);
  const requestWord = ids.size === 1 ? "request" : "requests";
  const sentence = `Sends ${nameOfKey(ref)} again ${listed(times, "and")} (${requestWord} ${listed([...ids], "and")})`;
  const only = names.flatMap((name) => ["--only", name]);
  return {
    name: names[0] as string,
    sentence: isTimed ? sentence : `${sentence}, and not after a 404`,
    whatToDo: [...fixes].join(" "),
    again: againCommand(plan, "certify", ...only),
    runs: names,
  };
}

const turnOffTestRetries =
  "If it is not your client that sends it, but each test (polling) or their runner (a retry of failed tests), turn that off.";

const moveSandboxClock = "(If your tests replace the pause, move the sandbox's clock by it.)";
