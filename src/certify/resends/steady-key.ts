import { keyVariable } from "../../rules/api-key.js";
import { isFault, isSuccess, outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import {
  type NotJudged,
  notAllMade,
  notJudged,
  type Reason,
  type RunEvidence,
  runNotMade,
  sufficient,
} from "../checks/judgment.js";
import { isNoticed, type KeyRequest, type SentKey } from "../client-runs/client-run.js";
import { failureEvidence } from "../client-runs/failure-evidence.js";
import { passEvidence } from "../client-runs/pass-evidence.js";
import { plainRun, type Runs } from "../client-runs/runs.js";
import { awaitHeldVariedRuns } from "../varied/varied.js";
import {
  acceptedOfRun,
  acceptedRequests,
  runReplacingLast,
  type SteadyKey,
  whatFollowed,
} from "./replaced-run.js";

/** How many keys are tried. With the first one, no test may use the last response. */
const maxKeys = 3;

/** How many varied runs show that each run sends the key equally often: fewer need plain runs. */
const sureVariedRuns = 2;

/** How many plain runs, with the first one, show the same. */
const surePlainRuns = 5;

/** Finds a steady key that shows a resend: a test uses its last response, and nothing else sends it after that. */
export async function findSteadyKey(runs: Runs): Promise<SteadyKey | NotJudged> {
  const working = workingKeys(runs);
  // A client may keep the response to what it sends once, and ask again if that was rejected: no resend.
  const repeated = working.filter(({ usualCount }) => usualCount > 1);
  if (repeated.length === 0) return notJudged(whyNoRepeatedKey(runs, working));

  const steady = await sentEquallyOften(runs, repeated);
  if (steady.length === 0) return notJudged(notEquallyOften(repeated));

  const reasons: NotJudged[] = [];
  for (const key of steady.slice(0, maxKeys)) {
    const evidence = await keyEvidence(runs, key);
    if (evidence.kind === "sufficient") return key;
    reasons.push(evidence);
  }
  return reasons[0] as NotJudged; // there is a steady key
}

/** The keys besides this one that always work, and that each run sends equally often. */
export function steadyKeysBesides(runs: Runs, { ref }: SteadyKey): Promise<SteadyKey[]> {
  const others = workingKeys(runs).filter((key) => key.ref !== ref);
  return sentEquallyOften(runs, others);
}

/** Those of these keys that no varied run that passed sent more or less often than the plain run. */
async function sentEquallyOften(runs: Runs, keys: readonly SteadyKey[]): Promise<SteadyKey[]> {
  const variedRuns = await awaitHeldVariedRuns(runs);
  const equallyOften: SteadyKey[] = [];
  for (const key of keys) {
    const { ref, usualCount } = key;
    if (variedRuns.every((run) => acceptedOfRun(run, ref).length === usualCount)) {
      equallyOften.push(key);
    }
  }
  return equallyOften;
}

/** The keys that the plain run accepted each time, the default key first. One with an outcome that --allow names is rejected on purpose. */
function workingKeys({ plain, plan: { defaultKey, allow } }: Runs): SteadyKey[] {
  const keys: SteadyKey[] = [];
  for (const sentKey of plain.sent) {
    const { key: ref, isUnknown, requests } = sentKey;
    const isAlwaysAccepted = requests.every(({ outcome }) => isSuccess(outcome) && !allow.includes(outcome));
    if (isUnknown || requests.length === 0 || !isAlwaysAccepted) continue;

    const key: SteadyKey = { kind: "steady_key", ref, usualCount: acceptedRequests(sentKey).length };
    if (ref === defaultKey) keys.unshift(key);
    else keys.push(key);
  }
  return keys;
}

/** Whether a rejection of its last request counts: a 404 in its place must make the command fail, and be the end. */
async function keyEvidence(runs: Runs, key: SteadyKey): Promise<RunEvidence> {
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
      if (isNoticed(run)) return failureEvidence(runs, run);
      const evidence = passEvidence(runs.plain, run, "replaced");
      if (evidence.kind === "not_judged") return evidence;
      return notJudged(passesUnnoticed(key, "a 404"));
    }
  }
}

/** Whether enough runs show that the key comes equally often by itself. */
export async function equallyOftenEvidence(runs: Runs, key: SteadyKey): Promise<RunEvidence> {
  // Each varied run that passed sent the key equally often, or it would be no steady key.
  const variedRuns = await awaitHeldVariedRuns(runs);
  if (variedRuns.length >= sureVariedRuns) return sufficient;

  let madeCount = 0;
  for (const run of await runs.makeUpTo(plainRun, surePlainRuns)) {
    if (run.kind === "not_made") continue;
    const count = acceptedOfRun(run, key.ref).length;
    if (count !== key.usualCount) return notJudged(notEquallyOften([key]));
    madeCount += 1;
  }
  if (madeCount < surePlainRuns) return notJudged(notAllMade(madeCount, surePlainRuns));
  return sufficient;
}

/** Why there is no key that always works and comes twice. A key that came twice, and was only rejected sometimes, is named first. */
function whyNoRepeatedKey({ plain, plan: { defaultKey } }: Runs, working: readonly SteadyKey[]): Reason {
  const keysOfSandbox = plain.sent.filter(({ isUnknown }) => !isUnknown);
  const defaultKeys = keysOfSandbox.filter(({ key }) => key === defaultKey);
  const otherKeys = keysOfSandbox.filter(({ key }) => key !== defaultKey);
  for (const sentKey of [...defaultKeys, ...otherKeys]) {
    const rejected = requestRejectedSometimes(sentKey);
    if (rejected !== undefined) return worksOnlySometimes(sentKey, rejected);
  }
  return working.length === 0 ? noKey : sentOnce(working);
}

/** The first request with a key that was rejected, if another one was accepted. */
function requestRejectedSometimes({ requests }: SentKey): KeyRequest | undefined {
  const isEverAccepted = requests.some(({ outcome }) => isSuccess(outcome));
  return isEverAccepted ? requests.find(({ outcome }) => !isSuccess(outcome)) : undefined;
}

function worksOnlySometimes({ key }: SentKey, { id, outcome }: KeyRequest): Reason {
  const response = isFault(outcome) ? "a fault" : `a ${outcomeRow(outcome).status}`;
  return {
    why: `${keyVariable(key)} got ${response} in the plain run (${id}), and no key that always works came twice`,
    whatToDo: "Send a key that works in two tests, and let another one expire, be revoked or be limited.",
  };
}

const noKey: Reason = {
  why: "the plain run sent no key that always works",
  whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
};

function sentOnce(keys: readonly SteadyKey[]): Reason {
  return {
    why: `the plain run sent ${variablesOf(keys)} once`,
    whatToDo:
      "Send a key that works in two tests. Turn off what keeps its first response for the second one.",
  };
}

function notEquallyOften(keys: readonly SteadyKey[]): Reason {
  return {
    why: `not all runs sent ${variablesOf(keys)} equally often, although nothing was rejected`,
    whatToDo:
      "Send a key that works equally often in each run. Turn off what sends it in the background, such as a health check.",
  };
}

function sentAfter404({ ref }: SteadyKey): Reason {
  return {
    why: `${keyVariable(ref)} was also sent again after a 404`,
    whatToDo:
      "Send a request again only after a 429, a 5xx or no response. If your tests repeat requests, turn that off, such as `--retry` of a runner, or polling until a 200.",
  };
}

/** A run shows nothing that passed although the last request with the key got this response, and after which nothing came. */
export function passesUnnoticed({ ref }: SteadyKey, response: string): Reason {
  return {
    why: `the command passes when the last request with ${keyVariable(ref)} gets ${response}, and does not send it again`,
    whatToDo:
      "Use each response of a key that works in a test. If your client survives a rejection on purpose, such as by a second key, add --allow with the outcome of this key.",
  };
}

function variablesOf(keys: readonly SteadyKey[]): string {
  const variables = keys.map(({ ref }) => keyVariable(ref));
  return listed(variables, "and");
}
