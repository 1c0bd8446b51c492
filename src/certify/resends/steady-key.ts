import { surePlainRuns, sureVariedRuns } from "../checks/chance.js";
import { certifyStopped, type NotJudged, notJudged, type Reason } from "../checks/judgment.js";
import { isNoticed, isNotMade } from "../client-runs/client-run.js";
import { findDoubtOfFailure } from "../client-runs/doubt-of-failure.js";
import { findDoubtOfPass } from "../client-runs/doubt-of-pass.js";
import { plainRunRequest, type Runs } from "../client-runs/runs.js";
import { awaitHeldVariedRuns } from "../varied/varied-runs.js";
import { isSentAsOften, runReplacingLast, type WorkingKey, whatFollowed } from "./replaced-run.js";
import { notEquallyOften, passesUnnoticed, sentAfter404, whyNoRepeatedKey } from "./steady-key-words.js";
import { workingKeys } from "./working-keys.js";

// Which key is tried?
// 1. A working key: the plain run accepted each request with it (working-keys.ts).
// 2. Of these, a repeated one: it comes twice or more often.
// 3. Of these, a steady one: each run sends it equally often. The varied runs, which are made for their own checks, show which keys are not.
// 4. Of these, one whose last response a test uses.
// Before a resend of the key is named, still more runs must have sent it equally often (`findDoubtOfSteadiness`).

/** The key whose requests are rejected. */
interface FoundKey {
  readonly kind: "found";
  readonly key: WorkingKey;
}

/** How many keys are tried. With the first one, no test may use the last response. */
const maxKeys = 3;

/** Finds a steady key that shows a resend: a test uses its last response, and nothing else sends it after that. */
export async function findSteadyKey(runs: Runs): Promise<FoundKey | NotJudged> {
  const working = workingKeys(runs);
  // A client may keep the response to what it sends once, and ask again if that was rejected: no resend.
  const repeated = working.filter(({ numbersOfReadRequests }) => numbersOfReadRequests.length > 1);
  if (repeated.length === 0) return notJudged(whyNoRepeatedKey(runs, working));

  const steady = await steadyKeysAmong(runs, repeated);
  if (steady.length === 0) return notJudged(notEquallyOften(repeated));

  const doubts: Reason[] = [];
  for (const key of steady.slice(0, maxKeys)) {
    const doubt = await findDoubtOfRejection(runs, key);
    if (doubt === undefined) return { kind: "found", key };
    doubts.push(doubt);
  }
  return notJudged(doubts[0] as Reason); // there is a steady key
}

/** The keys besides this one that always work, and that no varied run shows to be unsteady. Each has a request that can be rejected. */
export function steadyKeysBesides(runs: Runs, { ref }: WorkingKey): Promise<WorkingKey[]> {
  // The client may have read no response of a key whole: none of its requests counts.
  const others = workingKeys(runs).filter((key) => key.ref !== ref && key.numbersOfReadRequests.length > 0);
  return steadyKeysAmong(runs, others);
}

/** Those of the keys that each varied run sent as often as the plain run. */
async function steadyKeysAmong(runs: Runs, keys: readonly WorkingKey[]): Promise<WorkingKey[]> {
  const variedRuns = await awaitHeldVariedRuns(runs);
  return keys.filter((key) => variedRuns.every((run) => isSentAsOften(run, key)));
}

/** Why a rejection of its last request would show nothing: with a 404, which no client must repeat, the command does not fail, or more follows. */
async function findDoubtOfRejection(runs: Runs, key: WorkingKey): Promise<Reason | undefined> {
  const notFound = { kind: "rejection", as: "404.unknown_path" } as const;
  const request = runReplacingLast(key, notFound, { kind: "resend_control" });
  const followed = whatFollowed(await runs.makeOnce(request), key);
  switch (followed.kind) {
    case "not_judged":
      return followed.reason;
    case "sent_again":
      return sentAfter404(key);
    case "nothing": {
      const { run } = followed;
      if (isNoticed(run)) return findDoubtOfFailure(runs, run);
      return findDoubtOfPass(runs.plain, run, "replaced") ?? passesUnnoticed(key, "a 404");
    }
  }
}

/** Why too few runs show that the key is steady, also without a rejection. */
export async function findDoubtOfSteadiness(runs: Runs, key: WorkingKey): Promise<Reason | undefined> {
  // Each of these sent the key as often as the plain run: otherwise the key would not be steady.
  const variedRuns = await awaitHeldVariedRuns(runs);
  if (variedRuns.length >= sureVariedRuns) return undefined;

  const plainRuns = await runs.makeUpTo(plainRunRequest, surePlainRuns);
  if (plainRuns.some(isNotMade)) return certifyStopped;
  return plainRuns.every((run) => isSentAsOften(run, key)) ? undefined : notEquallyOften([key]);
}
