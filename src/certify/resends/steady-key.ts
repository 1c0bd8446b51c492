import { isSuccess } from "../../rules/outcomes.js";
import { surePlainRuns, sureVariedRuns } from "../checks/chance.js";
import {
  type NotJudged,
  notAllMade,
  notJudged,
  type RunEvidence,
  runNotMade,
  sufficient,
} from "../checks/judgment.js";
import { type ClientRun, isNoticed } from "../client-runs/client-run.js";
import { whetherFailureCounts } from "../client-runs/failure-evidence.js";
import { whetherPassCounts } from "../client-runs/pass-evidence.js";
import { plainRunRequest, type Runs } from "../client-runs/runs.js";
import { awaitHeldVariedRuns } from "../varied/varied-runs.js";
import {
  acceptedOfRun,
  runReplacingLast,
  type SteadyKey,
  type WorkingKey,
  whatFollowed,
} from "./replaced-run.js";
import { notEquallyOften, passesUnnoticed, sentAfter404, whyNoRepeatedKey } from "./steady-key-words.js";

// A working key is accepted each time in the plain run; if it comes twice, it is repeated. It is steady if each run sends it equally often.
// The varied runs, which are made for their own checks, show which keys are not. Before a resend of a key is named, enough runs must have sent
// it equally often (`whetherKeyIsSteady`).

/** How many keys are tried. With the first one, no test may use the last response. */
const maxKeys = 3;

/** Finds a steady key that shows a resend: a test uses its last response, and nothing else sends it after that. */
export async function findSteadyKey(runs: Runs): Promise<SteadyKey | NotJudged> {
  const working = workingKeys(runs);
  // A client may keep the response to what it sends once, and ask again if that was rejected: no resend.
  const repeated = working.filter(({ readCount }) => readCount > 1);
  if (repeated.length === 0) return notJudged(whyNoRepeatedKey(runs, working));

  const steady = await steadyKeysAmong(runs, repeated);
  if (steady.length === 0) return notJudged(notEquallyOften(repeated));

  const reasons: NotJudged[] = [];
  for (const key of steady.slice(0, maxKeys)) {
    const evidence = await whetherKeyEndsAt404(runs, key);
    if (evidence.kind === "sufficient") return key;
    reasons.push(evidence);
  }
  return reasons[0] as NotJudged; // there is a steady key
}

/** The keys besides this one that always work, and that no varied run shows to be unsteady. Each has a request that can be rejected. */
export function steadyKeysBesides(runs: Runs, { ref }: SteadyKey): Promise<SteadyKey[]> {
  // The client may have read no response of a key whole: none of its requests counts.
  const others = workingKeys(runs).filter((key) => key.ref !== ref && key.readCount > 0);
  return steadyKeysAmong(runs, others);
}

/** Those of the keys that each varied run sent as often as the plain run. */
async function steadyKeysAmong(runs: Runs, keys: readonly WorkingKey[]): Promise<SteadyKey[]> {
  const variedRuns = await awaitHeldVariedRuns(runs);
  const steady: SteadyKey[] = [];
  for (const key of keys) {
    if (variedRuns.every((run) => isSentAsOften(run, key))) steady.push({ kind: "steady_key", ...key });
  }
  return steady;
}

/** Whether a run sent the key as often as the plain run. */
function isSentAsOften(run: ClientRun, { ref, readCount }: WorkingKey): boolean {
  return acceptedOfRun(run, ref).length === readCount;
}

/** The keys that the plain run accepted each time, the default key first. With `--allow 200.test`, the client survives a 401 in place of that success: its keys are left out. */
function workingKeys({ plain, plan: { defaultKey, allow } }: Runs): WorkingKey[] {
  const keys: WorkingKey[] = [];
  for (const { key: ref, isUnknown, requests } of plain.sentKeys) {
    const isAlwaysAccepted = requests.every(({ outcome }) => isSuccess(outcome) && !allow.includes(outcome));
    if (isUnknown || !isAlwaysAccepted) continue;

    // A run that replaces a response counts all requests: it cannot know which response the client will not read.
    const readNumbers: number[] = [];
    for (const [index, { isUnread }] of requests.entries()) {
      if (!isUnread) readNumbers.push(index + 1);
    }
    const key = { ref, readNumbers, readCount: readNumbers.length };
    if (ref === defaultKey) keys.unshift(key);
    else keys.push(key);
  }
  return keys;
}

/** Whether a rejection of its last request counts: with a 404, which no client must repeat, the command must fail, and nothing may follow. */
async function whetherKeyEndsAt404(runs: Runs, key: SteadyKey): Promise<RunEvidence> {
  const notFound = { kind: "rejection", as: "404.unknown_path" } as const;
  const request = runReplacingLast(key, notFound, { kind: "resend_control" });
  const followed = whatFollowed(await runs.makeOnce(request), key);
  switch (followed.kind) {
    case "not_made":
      return notJudged(runNotMade);
    case "not_judged":
      return followed;
    case "sent_again":
      return notJudged(sentAfter404(key));
    case "nothing": {
      const { run } = followed;
      if (isNoticed(run)) return whetherFailureCounts(runs, run);
      const evidence = whetherPassCounts(runs.plain, run, "replaced");
      if (evidence.kind === "not_judged") return evidence;
      return notJudged(passesUnnoticed(key, "a 404"));
    }
  }
}

/** Whether enough runs show that the key is steady, also without a rejection. */
export async function whetherKeyIsSteady(runs: Runs, key: SteadyKey): Promise<RunEvidence> {
  // Each of these sent the key as often as the plain run: otherwise the key would not be steady.
  const variedRuns = await awaitHeldVariedRuns(runs);
  if (variedRuns.length >= sureVariedRuns) return sufficient;

  let madeCount = 0;
  for (const run of await runs.makeUpTo(plainRunRequest, surePlainRuns)) {
    if (run.kind === "not_made") continue;
    if (!isSentAsOften(run, key)) return notJudged(notEquallyOften([key]));
    madeCount += 1;
  }
  if (madeCount < surePlainRuns) return notJudged(notAllMade(madeCount, surePlainRuns));
  return sufficient;
}
