import { type FaultOutcomeId, faultKindRow, whatToDoAfter } from "../rules/fault-effects.js";
import { exampleOfFault } from "../sandbox/faults.js";
import { listed } from "../schema/words.js";
import {
  type Finding,
  type Judgment,
  judgedAlike,
  type NotJudged,
  nothingJudged,
  notJudged,
  type ResultOfCheck,
} from "./checks/judgment.js";
import type { CertifyPlan } from "./checks/plan.js";
import {
  type ClientRun,
  isBroken,
  isNoticed,
  type RunRequest,
  resultOfPass,
} from "./client-runs/client-run.js";
import { againWithOnly, lastLineOf } from "./client-runs/finding-parts.js";
import { judgeEach, type Runs, unlessStopped } from "./client-runs/runs.js";
import {
  findFittingKey,
  findWorkingKeys,
  lastRequestRun,
  moreRequests,
  type WorkingKey,
} from "./last-request.js";

// A fault hits the last request with a key that works (last-request.ts says which). A client that survives it shows something only if a test
// uses the response: then the command fails when the response is a 401.

/** Hits one request with each fault of the plan, in a run of its own, which the client must survive. */
export async function judgeFaults(runs: Runs): Promise<Judgment> {
  const { plan } = runs;
  const checks = runs.checks.fault;
  if (checks.length === 0) return nothingJudged;
  const key = await unlessStopped(chooseKeyOfFault(runs));
  if ("kind" in key) return judgedAlike(checks, key);

  const judged = await judgeEach(checks, ({ outcome }) => judgeFault(runs, key, outcome));
  const failed: FailedAtFault[] = [];
  for (const { check, result } of judged) {
    if (result.kind !== "failed") continue;
    failed.push({ fault: check.outcome, run: await runs.makeOnce(faultRun(key, check.outcome)) });
  }
  return { checks: judged, problems: problemsOf(failed, key, plan), notes: [] };
}

async function chooseKeyOfFault(runs: Runs): Promise<WorkingKey | NotJudged> {
  const keys = await findWorkingKeys(runs);
  const keysToHit = keys.filter(({ requests }) => requests.at(-1)?.canTakeFault);
  if (keysToHit.length === 0) {
    return notJudged(
      "no key that always works came equally often in each run, with a GET",
      "Add a test that sends one, such as SVC_KEY_ACTIVE, and nothing else in the background.",
    );
  }
  const key = await findFittingKey(runs, keysToHit, isNoticed);
  if (key !== undefined) return key;
  return notJudged(
    "no test fails when the last request with a key that works gets a 401",
    "Add a test that sends such a key last, and fails without a 200. Turn off what repeats requests or failed tests, or add --allow fault.",
  );
}

function faultRun(key: WorkingKey, fault: FaultOutcomeId): RunRequest {
  const gets = { kind: "fault", effect: exampleOfFault(fault, { asPage: true }) } as const;
  return lastRequestRun(key, gets, { kind: "fault", outcome: fault });
}

/** A delayed response still comes. After any other fault, the client must send the request again. */
async function judgeFault(runs: Runs, key: WorkingKey, fault: FaultOutcomeId): Promise<ResultOfCheck> {
  const run = await runs.makeOnce(faultRun(key, fault));
  const isBrokenByFault = isBroken(run) && run.replacedCount > 0;
  if (isBrokenByFault) return runs.judgeFailure({ kind: "fault", outcome: fault }, run);

  const shown = resultOfPass(runs.plain, run, "replaced");
  if (shown.kind === "not_judged") return shown;
  if (faultKindRow(fault).onlyDelays || moreRequests(run, key).length > 0) return { kind: "held" };
  return notJudged(
    "the command passed, and no run shows that the request came again that was hit",
    "Make a test fail when the response of a key that works does not come.",
  );
}

/** What happens to a request that is hit by the example of each kind, in words: "fails when the last request with a key that works …". */
const wordsOfKinds: Readonly<Record<FaultOutcomeId, string>> = {
  "fault.latency": "gets its response a second late",
  "fault.status": "gets a 503 with an HTML page",
  "fault.reset": "has its connection reset",
  "fault.hang": "never gets a response",
  "fault.truncate": "gets a response that is cut short",
  "fault.malformed": "gets a 200 with broken JSON",
  "fault.slow": "gets its response in many parts",
};

/** A fault at which the command failed, and the first run that shows it. */
interface FailedAtFault {
  readonly fault: FaultOutcomeId;
  readonly run: ClientRun;
}

/** The problems of faults: one of all runs that failed, since one flaw breaks them, and one of all that did not end in time. */
function problemsOf(failed: readonly FailedAtFault[], key: WorkingKey, plan: CertifyPlan): Finding[] {
  const problems: Finding[] = [];
  for (const end of ["failed", "timed_out"] as const) {
    const alike = failed.filter(({ run }) => run.result === end);
    const [first] = alike;
    if (first === undefined) continue;
    const names = alike.map(({ fault }) => fault);
    const isSentAgain = alike.every(({ run }) => moreRequests(run, key).length > 0);
    const ends = end === "failed" ? "Fails" : "Does not end in time";
    const words = names.map((name) => wordsOfKinds[name]);
    const again = isSentAgain ? ", although the request came again" : "";
    problems.push({
      name: first.fault,
      sentence: `${ends} when the last request with a key that works ${listed(words, "or")}${again} (3 of 3 runs)`,
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
