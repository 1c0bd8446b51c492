import { isFault } from "../../rules/fault-effects.js";
import { keyVariable } from "../../rules/keys/key-text.js";
import { isSuccess, outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import { Inconclusive, type Reason, shownOr } from "../checks/judgment.js";
import { type ClientRun, isNoticed, plainRunRequest } from "../client-runs/client-run.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import { findDoubtOfFailure } from "../client-runs/failures.js";
import type { Runs } from "../client-runs/runs.js";
import { controlRun, countedRequests, reactionIn, type WorkingKey } from "./reaction.js";

// Which key is tried?
// 1. A working key: the plain run accepted each request with it.
// 2. Of these, a repeated one: it comes twice or more often.
// 3. Of these, a steady one: each run sends it equally often. The varied runs, which are made for their own checks, show which keys are not.
// 4. Of these, one whose last response a test uses: the command fails if it is a 404, which no client must repeat, and nothing follows.
// Before a resend of the key is named, still more runs must have sent it equally often (`findDoubtOfSteadiness`).

/** How many keys are tried. With the first one, no test may use the last response. */
const maxKeys = 3;

/** Finds a steady key that shows a resend: a test uses its last response, and nothing else sends it after that. Throws `Inconclusive` if there is none. */
export async function findSteadyKey(runs: Runs): Promise<WorkingKey> {
  const working = workingKeys(runs);
  // A client may keep the response to what it sends once, and ask again if that was rejected: no resend.
  const repeated = working.filter(({ requests }) => requests.length > 1);
  if (repeated.length === 0) throw new Inconclusive(whyNoRepeatedKey(runs, working));

  const steady = await steadyKeysAmong(runs, repeated);
  if (steady.length === 0) throw new Inconclusive(notEquallyOften(repeated));

  const doubts: Reason[] = [];
  for (const key of steady.slice(0, maxKeys)) {
    const doubt = await shownOr(findDoubtOfLastResponse(runs, key), (reason) => reason);
    if (doubt === undefined) return key;
    doubts.push(doubt);
  }
  throw new Inconclusive(doubts[0] as Reason); // there is a steady key
}

/** The keys that the plain run accepted each time, the default key first. With `--allow 200.test`, the client survives a 401 in place of that success: its keys are left out. */
function workingKeys({ plain, plan: { defaultKey, allow } }: Runs): WorkingKey[] {
  const keys: WorkingKey[] = [];
  for (const { key: ref, isUnknown, requests } of plain.sentKeys) {
    const isAlwaysAccepted = requests.every(({ outcome }) => isSuccess(outcome) && !allow.includes(outcome));
    if (isUnknown || !isAlwaysAccepted) continue;

    const key = { ref, requests: countedRequests(plain, ref) };
    if (ref === defaultKey) keys.unshift(key);
    else keys.push(key);
  }
  return keys;
}

function isSentAsOften(run: ClientRun, { ref, requests }: WorkingKey): boolean {
  return countedRequests(run, ref).length === requests.length;
}

async function steadyKeysAmong(runs: Runs, keys: readonly WorkingKey[]): Promise<WorkingKey[]> {
  const variedRuns = await runs.heldVaried();
  return keys.filter((key) => variedRuns.every((run) => isSentAsOften(run, key)));
}

/** The keys besides this one that always work, and that no varied run shows to be unsteady. Each has a request that can be rejected. */
export function steadyKeysBesides(runs: Runs, { ref }: WorkingKey): Promise<WorkingKey[]> {
  // The client may have read no response of a key whole: none of its requests counts.
  const others = workingKeys(runs).filter((key) => key.ref !== ref && key.requests.length > 0);
  return steadyKeysAmong(runs, others);
}

/** Why a rejection of its last request would show nothing: with a 404, the command does not fail, or more follows. */
async function findDoubtOfLastResponse(runs: Runs, key: WorkingKey): Promise<Reason | undefined> {
  const notFound = { kind: "rejection", as: "404.unknown_path" } as const;
  const run = await runs.makeOnce(controlRun(key, notFound));
  const reaction = reactionIn(run, key, false);
  if (reaction.kind === "not_judged") return reaction.reason;
  if (reaction.kind !== "nothing_more") {
    return {
      why: `${keyVariable(key.ref)} was also sent again after a 404`,
      whatToDo:
        "Send a request again only after a 429, a 5xx or no response. If your tests repeat requests, turn that off, such as `--retry` of a runner, or polling until a 200. If a cache asks again after it, turn it off, too.",
    };
  }
  if (isNoticed(run)) return findDoubtOfFailure(runs, run);
  return findDoubtOfPass(runs.plain, run, "replaced") ?? passesUnnoticed(key, "a 404");
}

/** So many varied runs that hold, or else so many plain runs, show that a key is sent equally often. */
const sureVariedRuns = 2;
const surePlainRuns = 5;

/** Why too few runs show that the key is steady, also without a rejection. */
export async function findDoubtOfSteadiness(runs: Runs, key: WorkingKey): Promise<Reason | undefined> {
  // Each of these sent the key as often as the plain run: otherwise the key would not be steady.
  const variedRuns = await runs.heldVaried();
  if (variedRuns.length >= sureVariedRuns) return undefined;
  const plainRuns = await runs.makeUpTo(plainRunRequest, surePlainRuns);
  return plainRuns.every((run) => isSentAsOften(run, key)) ? undefined : notEquallyOften([key]);
}

/** Why there is no key that always works and comes twice. A key that came twice, and was only rejected sometimes, is named first. */
function whyNoRepeatedKey({ plain, plan }: Runs, working: readonly WorkingKey[]): Reason {
  const keysOfSandbox = plain.sentKeys.filter(({ isUnknown }) => !isUnknown);
  const defaultKeys = keysOfSandbox.filter(({ key }) => key === plan.defaultKey);
  const otherKeys = keysOfSandbox.filter(({ key }) => key !== plan.defaultKey);
  for (const { key, requests } of [...defaultKeys, ...otherKeys]) {
    const isEverAccepted = requests.some(({ outcome }) => isSuccess(outcome));
    const rejected = requests.find(({ outcome }) => !isSuccess(outcome));
    if (!isEverAccepted || rejected === undefined) continue;
    const { id, outcome } = rejected;
    const response = isFault(outcome) ? "a fault" : `a ${outcomeRow(outcome).status}`;
    return {
      why: `${keyVariable(key)} got ${response} in the plain run (${id}), and no key that always works came twice`,
      whatToDo: "Send a key that works in two tests, and let another one expire, be revoked or be limited.",
    };
  }

  const allowed = keysOfSandbox.find(({ requests }) => requests.every(({ outcome }) => isSuccess(outcome)));
  if (working.length === 0 && allowed !== undefined) {
    const outcomes = new Set(allowed.requests.map(({ outcome }) => outcome));
    const flags = listed(
      [...outcomes].map((outcome) => `--allow ${outcome}`),
      "and",
    );
    return {
      why: `${flags} leaves out ${keyVariable(allowed.key)}, and the plain run sent no other key that always works`,
      whatToDo: `Leave out ${flags}, or send a key that works and ends on another outcome in two tests.`,
    };
  }
  if (working.length === 0) {
    return {
      why: "the plain run sent no key that always works",
      whatToDo: "Send a key that works, such as SVC_KEY_ACTIVE.",
    };
  }
  return {
    why: `the plain run sent ${keyVariables(working)} once`,
    whatToDo:
      "Send a key that works in two tests. Turn off what keeps its first response for the second one.",
  };
}

function notEquallyOften(keys: readonly WorkingKey[]): Reason {
  return {
    why: `not all runs sent ${keyVariables(keys)} equally often, although nothing was rejected`,
    whatToDo:
      "Send a key that works equally often in each run: the same one in each test, whatever a response has. Turn off what sends it in the background, such as a health check.",
  };
}

function keyVariables(keys: readonly WorkingKey[]): string {
  const variables = keys.map(({ ref }) => keyVariable(ref));
  return listed(variables, "and");
}

/** A run shows nothing that passed although the last request with the key got this response, and after which nothing came. */
export function passesUnnoticed({ ref }: WorkingKey, response: string): Reason {
  return {
    why: `the command passes when the last request with ${keyVariable(ref)} gets ${response}, and does not send it again`,
    whatToDo:
      "Use each response of a key that works in a test. If your client survives a rejection on purpose, such as by a second key, add --allow with the outcome of this key.",
  };
}
