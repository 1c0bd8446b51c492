import { keyVariable } from "../../rules/api-key.js";
import { isFault, isSuccess, outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import { isNoticed } from "../answers.js";
import {
  countingEvidence,
  type NotJudged,
  notAllMade,
  notJudged,
  type Reason,
  type RunEvidence,
  runNotMade,
} from "../checks/judgment.js";
import { passEvidence } from "../client-runs/pass-evidence.js";
import type { Runs } from "../client-runs/runs.js";
import { runVaried } from "../varied/varied.js";
import { acceptedOf, acceptedRequests, replacing, type SteadyKey, whatFollowed } from "./replaced-run.js";

/** How many keys are tried. With the first one, no test may use the last response. */
const maxKeys = 3;

/** How many plain runs are made if fewer than two varied runs show how often the key comes. */
const plainRunsThatCount = 5;

/** Finds a steady key that shows a resend: a test uses its last response, and nothing else sends it after that. */
export async function findSteadyKey(runs: Runs): Promise<SteadyKey | NotJudged> {
  const working = workingKeys(runs);
  // A client may keep the response to what it sends once, and ask again if that was rejected: no resend.
  const repeated = working.filter(({ requestCount }) => requestCount > 1);
  if (repeated.length === 0) return notJudged(noRepeatedKey(runs, working));

  const steady = await sentEquallyOften(runs, repeated);
  if (steady.length === 0) return notJudged(notEquallyOften(repeated));

  const unfit: NotJudged[] = [];
  for (const key of steady.slice(0, maxKeys)) {
    const evidence = await keyEvidence(runs, key);
    if (evidence.kind === "counts") return key;
    unfit.push(evidence);
  }
  return unfit[0] as NotJudged; // there is a steady key
}

/** The other keys that always work, and that each run sends equally often. */
export function otherSteadyKeys(runs: Runs, { ref }: SteadyKey): Promise<SteadyKey[]> {
  return sentEquallyOften(
    runs,
    workingKeys(runs).filter((key) => key.ref !== ref),
  );
}

/** Those of these keys that no varied run that passed sent more or less often than the plain run. */
async function sentEquallyOften(runs: Runs, keys: readonly SteadyKey[]): Promise<SteadyKey[]> {
  const { passed } = await runVaried(runs);
  return keys.filter(({ ref, requestCount }) =>
    passed.every((run) => acceptedRequests(run, ref).length === requestCount),
  );
}

/** The keys that the plain run accepted each time, the default key first. One with an outcome that --allow names is rejected on purpose. */
function workingKeys({ plain, plan: { defaultKey, allow } }: Runs): SteadyKey[] {
  const keys: SteadyKey[] = [];
  for (const sentKey of plain.sent) {
    const { key: ref, isUnknown, requests } = sentKey;
    const isAccepted = requests.every(({ outcome }) => isSuccess(outcome) && !allow.includes(outcome));
    if (isUnknown || requests.length === 0 || !isAccepted) continue;

    const key: SteadyKey = { kind: "steady_key", ref, requestCount: acceptedOf(sentKey).length };
    if (ref === defaultKey) keys.unshift(key);
    else keys.push(key);
  }
  return keys;
}

/** Whether a rejection of its last request counts: a 404 in its place must make the command fail, and be the end. */
async function keyEvidence(runs: Runs, key: SteadyKey): Promise<RunEvidence> {
  const notFound = { kind: "rejection", as: "404.unknown_path" } as const;
  const request = replacing(key, key.requestCount, notFound, { kind: "resend_control" });
  const followed = whatFollowed(await runs.first(request), key);
  switch (followed.kind) {
    case "not_made":
      return notJudged(runNotMade);
    case "not_judged":
      return followed;
    case "sent_again":
      return notJudged(sentAfter404(key));
    case "nothing": {
      const { run } = followed;
      if (isNoticed(run)) return runs.failureEvidence(run);
      const evidence = passEvidence(runs.plain, run, "replaced");
      return evidence.kind === "not_judged" ? evidence : notJudged(unnoticed(key, "a 404"));
    }
  }
}

/** Whether the key comes equally often by itself, or more often in some runs. */
export async function countEvidence(runs: Runs, key: SteadyKey): Promise<RunEvidence> {
  // Two varied runs that passed have shown it: else it would be no steady key.
  const { passed } = await runVaried(runs);
  if (passed.length > 1) return countingEvidence;

  let made = 0;
  for (const run of await runs.plainRuns(plainRunsThatCount)) {
    if (run.kind === "not_made") continue;
    if (acceptedRequests(run, key.ref).length !== key.requestCount) return notJudged(notEquallyOften([key]));
    made += 1;
  }
  return made === plainRunsThatCount ? countingEvidence : notJudged(notAllMade(made, plainRunsThatCount));
}

/** Why there is no key that works and comes twice. A key that was sent twice, but also rejected, is named first. */
function noRepeatedKey({ plain, plan: { defaultKey } }: Runs, working: readonly SteadyKey[]): Reason {
  const spoiled = plain.sent.filter(({ isUnknown, requests }) => !isUnknown && requests.length > 1);
  const ofDefault = spoiled.filter(({ key }) => key === defaultKey);
  const ofOthers = spoiled.filter(({ key }) => key !== defaultKey);
  for (const { key, requests } of [...ofDefault, ...ofOthers]) {
    const rejected = requests.find(({ outcome }) => !isSuccess(outcome));
    if (rejected === undefined || !requests.some(({ outcome }) => isSuccess(outcome))) continue;
    const { status } = outcomeRow(rejected.outcome);
    const gets = isFault(rejected.outcome) ? "a fault" : `a ${status}`;
    return {
      why: `${keyVariable(key)} got ${gets} in the plain run (${rejected.id}), and no key that always works came twice`,
      whatToDo: "Send a key that works in two tests, and let another one expire, be revoked or be limited.",
    };
  }
  return working.length === 0 ? noKey : sentOnce(working);
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
export function unnoticed({ ref }: SteadyKey, response: string): Reason {
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
