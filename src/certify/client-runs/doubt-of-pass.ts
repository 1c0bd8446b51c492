import { isFault } from "../../rules/fault-effects.js";
import { listed } from "../../schema/words.js";
import { type Reason, runTooLate } from "../checks/judgment.js";
import type { ClientRun, SentKey } from "./client-run.js";

/**
 * Why a run shows nothing: it did not end, nothing was tried, or the command did not send what it sent in the plain run. Keys of
 * requests that were hit may be missing. `whatWasTried`: responses that vary, or a response that the run replaces.
 */
export function findDoubtOfPass(
  plain: Pick<ClientRun, "sentKeys">,
  run: Pick<ClientRun, "result" | "sentKeys" | "ownSeed" | "points" | "replacedCount">,
  whatWasTried: "varied" | "replaced",
): Reason | undefined {
  if (run.result === "timed_out") return runTooLate;

  // A run in which the command does less than in the plain run, as with a cache of tests, passes whatever the sandbox does.
  const missing = missingRequests(plain, run);
  if (run.sentKeys.length === 0 && missing.length > 0) {
    return { why: "the command sent no request (a cache of your test runner?)", whatToDo: turnOffCaches };
  }
  if (whatWasTried === "replaced") {
    if (run.replacedCount === 0) return noRequestReplaced;
  } else if (run.ownSeed !== undefined) {
    const why = `your code sets the seed ${run.ownSeed}`;
    return { why, whatToDo: "Leave the seed out: the sandbox then has the run's." };
  } else if (run.points.length === 0) {
    const whatToDo = "Leave out what your tests set themselves, such as assumptions.";
    return { why: "no response varied", whatToDo };
  }
  if (missing.length === 0) return undefined;

  const named = missing.length > 3 ? [...missing.slice(0, 3), "others"] : missing;
  return {
    why: `the command did not send what it sent in the plain run: ${listed(named, "and")}`,
    whatToDo: `Send the same keys to the same endpoints in each run: without a cache of your client's own on disk. ${turnOffCaches}`,
  };
}

const turnOffCaches =
  "Turn off what runs only some of your tests, or none, such as `--rerun-tasks` of Gradle, `--force` of Turborepo, `--skip-nx-cache` of Nx, or `--no-cache`, and leave out `--onlyChanged`.";

export const noRequestReplaced: Reason = {
  why: "no request was hit",
  whatToDo: "Send the requests of the plain run again: without a cache of your client's own on disk.",
};

/** What the plain run sent and this run did not, as in "`active` (200.test)". A key of which a request was hit is left out: what follows may change with it. */
function missingRequests(plain: Pick<ClientRun, "sentKeys">, run: Pick<ClientRun, "sentKeys">): string[] {
  const keysHit = new Set<string>();
  const missing = new Set<string>();
  for (const { key, requests } of run.sentKeys) {
    if (requests.some(({ isReplaced }) => isReplaced)) keysHit.add(key);
  }
  for (const sentKey of plain.sentKeys) {
    if (keysHit.has(sentKey.key)) continue;
    for (const request of requestWords(sentKey)) missing.add(request);
  }
  for (const sentKey of run.sentKeys) {
    for (const request of requestWords(sentKey)) missing.delete(request);
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
