import { isFault } from "../../rules/fault-effects.js";
import { listed } from "../../schema/words.js";
import { certifyStopped, type Reason, runTooLate } from "../checks/judgment.js";
import type { ClientRun, SentKey } from "./client-run.js";

/** Why a run shows nothing, whatever its requests were: it was not made, or did not end in time. */
export function findDoubtOfEnd({ result }: Pick<ClientRun, "result">): Reason | undefined {
  if (result === "not_made") return certifyStopped;
  return result === "timed_out" ? runTooLate : undefined;
}

/**
 * In a run, something was tried that the client should notice or survive. Why does the run show nothing, although the command passed? It did
 * not end, nothing was tried, or the command did not send what it sent in the plain run. Keys of requests that were hit may be missing.
 * `whatWasTried`: responses that vary, or a response that the run replaces.
 */
export function findDoubtOfPass(
  plain: Pick<ClientRun, "sentKeys">,
  run: Pick<ClientRun, "result" | "sentKeys" | "ownSeed" | "points" | "replacedCount">,
  whatWasTried: "varied" | "replaced",
): Reason | undefined {
  const doubtOfEnd = findDoubtOfEnd(run);
  if (doubtOfEnd !== undefined) return doubtOfEnd;

  // A run in which the command does less than in the plain run, as with a cache of tests, passes whatever the sandbox does.
  const missing = missingRequests(plain, run);
  if (run.sentKeys.length === 0 && missing.length > 0) return sentNothing;
  if (whatWasTried === "varied" && run.ownSeed !== undefined) {
    const why = `your code sets the seed ${run.ownSeed}`;
    return { why, whatToDo: "Leave the seed out: the sandbox then has the run's." };
  }
  if (whatWasTried === "varied" && run.points.length === 0) return nothingVaried;
  if (whatWasTried === "replaced" && run.replacedCount === 0) return noRequestReplaced;
  if (missing.length === 0) return undefined;

  const named = missing.length > 3 ? [...missing.slice(0, 3), "others"] : missing;
  return {
    why: `the command did not send what it sent in the plain run: ${listed(named, "and")}`,
    whatToDo: `Send the same keys to the same endpoints in each run. ${turnOffCaches}`,
  };
}

const turnOffCaches =
  "Turn off what runs only some of your tests, or none, such as `--rerun-tasks` of Gradle, `--force` of Turborepo, `--skip-nx-cache` of Nx, or `--no-cache`, and leave out `--onlyChanged`.";

const sentNothing: Reason = {
  why: "the command sent no request (a cache of your test runner?)",
  whatToDo: turnOffCaches,
};

const nothingVaried: Reason = {
  why: "no response varied",
  whatToDo: "Leave out what your tests set themselves, such as assumptions.",
};

export const noRequestReplaced: Reason = {
  why: "no request was hit",
  whatToDo: "Send the requests of the plain run again: without a cache of your client's own on disk.",
};

/** What the plain run sent and this run did not, as in "`active` (200.test)". A key of which a request was hit is left out: what follows may change with it. */
function missingRequests(plain: Pick<ClientRun, "sentKeys">, run: Pick<ClientRun, "sentKeys">): string[] {
  const inRun = new Set<string>();
  const keysHit = new Set<string>();
  for (const sentKey of run.sentKeys) {
    for (const request of requestWords(sentKey)) inRun.add(request);
    if (sentKey.requests.some(({ isReplaced }) => isReplaced)) keysHit.add(sentKey.key);
  }

  const missing = new Set<string>();
  for (const sentKey of plain.sentKeys) {
    if (keysHit.has(sentKey.key)) continue;
    for (const request of requestWords(sentKey)) {
      if (!inRun.has(request)) missing.add(request);
    }
  }
  return [...missing];
}

/** The requests with one key in words, without those that a fault of the client's own tests hit. */
function requestWords({ key, isUnknown, requests }: SentKey): string[] {
  const words: string[] = [];
  for (const { outcome } of requests) {
    if (isFault(outcome)) continue;
    words.push(isUnknown ? `a request that ends on ${outcome}` : `\`${key}\` (${outcome})`);
  }
  return words;
}
