import { type FaultOutcomeId, faultKindRow, whatToDoAfter } from "../rules/fault-effects.js";
import { exampleOfFault } from "../sandbox/faults.js";
import { listed } from "../schema/words.js";
import {
  type Finding,
  heldResult,
  type JudgedCheck,
  type Judgment,
  type NotJudged,
  nothingJudged,
  notJudged,
  type ResultOfCheck,
} from "./checks/judgment.js";
import { type CertifyPlan, faultChecks } from "./checks/plan.js";
import {
  type ClientRun,
  endWords,
  isBroken,
  isNoticed,
  longestWait,
  resultOfPass,
  wrongAnswerRun,
} from "./client-runs/client-run.js";
import { againWithOnly, lastLineOf } from "./client-runs/finding-parts.js";
import { type Runs, unlessStopped } from "./client-runs/runs.js";
import { findWorkingKeys, moreRequests, type WorkingKey } from "./resends.js";

// A fault hits the first request with a key that works. A client that survives it shows something only if a test uses the response: then the
// command fails when the response is a 401. If no test does, the faults are tried all the same, since a client that does not survive one has
// a problem.

/** Hits one request with each kind of fault, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const wanted = faultChecks(plan);
  if (wanted.length === 0) return nothingJudged;
  const target = await unlessStopped(findTarget(runs));
  if ("reason" in target) {
    return { ...nothingJudged, checks: wanted.map((check) => ({ check, result: target })) };
  }

  const tried = await Promise.all(wanted.map((check) => tryFault(runs, target, check)));
  return { checks: tried, problems: problemsOf(tried, target.key, plan), notes: [] };
}

interface FaultTarget {
  readonly key: WorkingKey;
  /** Whether a test uses the response. If none does, a client that survives a fault shows nothing. */
  readonly isUsed: boolean;
}

/** Finds a key whose first GET a test uses, or else any that a fault may hit. */
async function findTarget(runs: Runs): Promise<FaultTarget | NotJudged> {
  const targets: FaultTarget[] = [];
  for (const key of await findWorkingKeys(runs)) {
    const request = key.requests.find(({ canTakeFault }) => canTakeFault);
    if (request === undefined) continue;
    const isUsed = isNoticed(await runs.makeOnce(wrongAnswerRun("first", request.outcome)));
    targets.push({ key, isUsed });
    if (isUsed) break;
  }
  const target = targets.find(({ isUsed }) => isUsed) ?? targets[0];
  if (target !== undefined) return target;
  return notJudged({
    why: "no key that always works came equally often in each run, with a GET",
    whatToDo: "Send one, and check its response. Turn off what sends it in the background.",
  });
}

type FaultCheck = ReturnType<typeof faultChecks>[number];

/** A check of a fault, with the run in which the fault hit a request. */
interface TriedFault extends JudgedCheck {
  readonly check: FaultCheck;
  /** `undefined` if it was not made. */
  readonly run?: ClientRun;
}

async function tryFault(runs: Runs, target: FaultTarget, check: FaultCheck): Promise<TriedFault> {
  const { outcome } = check;
  const which = { kind: "nth", key: target.key.ref, nth: 1 } as const;
  const gets = { kind: "fault", effect: exampleOfFault(outcome, { asPage: true }) } as const;
  const conditions = { onRequest: { which, gets } };
  const run = await unlessStopped(
    runs.makeOnce({ purpose: check, conditions, clientMayWaitMs: longestWait }),
  );
  if ("reason" in run) return { check, result: run };

  if (!isBroken(run) || run.replacedCount === 0) {
    return { check, run, result: resultIfSurvived(runs.plain, run, target, outcome) };
  }
  const seen = `the command ${endWords(run)} with ${outcome}`;
  return { check, run, result: await unlessStopped(runs.judgeAgainst(check, run, isBroken, seen)) };
}

/** A delayed response still comes. After any other fault, the client must send the request again. */
function resultIfSurvived(
  plain: ClientRun,
  run: ClientRun,
  { key, isUsed }: FaultTarget,
  fault: FaultOutcomeId,
): ResultOfCheck {
  const shown = resultOfPass(plain, run, "replaced");
  if (shown.kind === "not_judged") return shown;
  if (!isUsed) {
    return notJudged({
      why: "the command also passes when the first request with a key that works gets a 401",
      whatToDo:
        "Use the response of each key that works in a test. Turn off what repeats requests or failed tests, or add --allow fault.",
    });
  }
  if (faultKindRow(fault).onlyDelays || moreRequests(run, key).length > 0) return heldResult;
  return notJudged({
    why: "the command passed, and no run shows that the request came again that was hit",
    whatToDo: "Make a test fail when the response of a key that works does not come.",
  });
}

/** What happens to a request that is hit by the example of each kind, in words: "breaks when the first request with a key that works …". */
const wordsOfKinds: Readonly<Record<FaultOutcomeId, string>> = {
  "fault.latency": "gets its response a second late",
  "fault.status": "gets a 503 with an HTML page",
  "fault.reset": "has its connection reset",
  "fault.hang": "never gets a response",
  "fault.truncate": "gets a response that is cut short",
  "fault.malformed": "gets a 200 with broken JSON",
  "fault.slow": "gets its response in many parts",
};

/** The problems of faults: one of all runs that failed, since one flaw breaks them, and one of all that did not end in time. */
function problemsOf(tried: readonly TriedFault[], key: WorkingKey, plan: CertifyPlan): Finding[] {
  const problems: Finding[] = [];
  for (const result of ["failed", "timed_out"] as const) {
    const alike = tried.filter((one) => one.result.kind === "failed" && one.run?.result === result);
    const [first] = alike;
    if (first?.run === undefined) continue;
    const names = alike.map(({ check }) => check.outcome);
    const isSentAgain = alike.every(({ run }) => run && moreRequests(run, key).length > 0);
    const ends = result === "failed" ? "Fails" : "Does not end in time";
    const words = names.map((name) => wordsOfKinds[name]);
    const again = isSentAgain ? ", although the request came again" : "";
    problems.push({
      name: first.check.outcome,
      sentence: `${ends} when the first request with a key that works ${listed(words, "or")}${again} (3 of 3 runs)`,
      whatToDo: fixesOf(names, isSentAgain).join(" "),
      again: againWithOnly(plan, names),
      ...lastLineOf(first.run),
      runs: names,
    });
  }
  return problems;
}

function fixesOf(names: readonly FaultOutcomeId[], isSentAgain: boolean): string[] {
  const fixes: string[] = [];
  const [first, ...others] = names;
  if (first !== undefined && others.length === 0) fixes.push(whatToDoAfter(first, { isIdempotent: true }));
  else fixes.push(sendAgain);
  if (names.includes("fault.status")) fixes.push(readStatusFirst);
  // Then a test may count the requests.
  if (isSentAgain) fixes.push(leaveOutRepeats);
  const flags = names.map((name) => `--allow ${name}`);
  fixes.push(`If your client fails on purpose, add ${listed(flags, "and")}.`);
  return fixes;
}

const sendAgain =
  "After a failure, send the request again if it may be sent twice: with growing pauses, and a few times at most.";
/** The 503 of a run is the error page of a gateway. */
const readStatusFirst = "Read the status before the body: the error page of a gateway is HTML.";
const leaveOutRepeats =
  "If a test counts requests, leave out those that repeat others after faults: `faults: false`, or `faults=false` of GET /expect.";
