import type { Reason } from "../checks/judgment.js";
import { type KeyRequest, passedMsIfTooEarly } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { longestWait } from "../client-runs/timeouts.js";
import { runReplacingLast, type WorkingKey, whatFollowed } from "./replaced-run.js";
import type { Suspect } from "./resend-kinds.js";
import { findDoubtByTurns } from "./resend-turns.js";
import { alsoIfLate, doubtOfKind, failedIfLate } from "./resend-words.js";
import { findDoubtOfSteadiness } from "./steady-key.js";
import type { SomeKinds } from "./turn-plan.js";

// A suspect is a kind of rejection after which the key came again. That may not be the client's doing: the suite may send the key more
// often by itself, the client may ask a second time while a response is late, or a single test may poll until it gets a 200. Runs of
// their own exclude each of these before a resend is named: plain runs, runs with a late response, and turns (resend-turns.ts).

/** A response that is late comes so long after the moment at which the client sent again, in milliseconds. */
const marginMs = 500;

/** A suspect for which the runs were made that exclude other reasons. */
interface WeighedSuspect {
  readonly suspect: Suspect;
  /** Why it is no problem; `undefined` if all other reasons are excluded. */
  readonly doubt: Reason | undefined;
}

/** Makes the runs that exclude other reasons, for suspects that are all timed or all not. */
export async function weighSuspects(
  runs: Runs,
  key: WorkingKey,
  suspects: readonly Suspect[],
): Promise<WeighedSuspect[]> {
  if (suspects.length === 0) return [];
  const doubtOfKey = await findDoubtOfSteadiness(runs, key);
  if (doubtOfKey !== undefined) return suspects.map((suspect) => ({ suspect, doubt: doubtOfKey }));

  const inDoubt: WeighedSuspect[] = [];
  const remaining: Suspect[] = [];
  for (const suspect of suspects) {
    const doubt = await findDoubtIfLate(runs, key, suspect);
    if (doubt === undefined) remaining.push(suspect);
    else inDoubt.push({ suspect, doubt });
  }
  const [first, ...others] = remaining;
  if (first === undefined) return inDoubt;

  // The remaining suspects are one problem: a turn with the kind of one suspect counts for all, and its reason to doubt, too.
  const kinds: SomeKinds = [first.resendKind, ...others.map(({ resendKind }) => resendKind)];
  const doubtByTurns = await findDoubtByTurns({ runs, key, suspects: remaining }, kinds);
  return [...inDoubt, ...remaining.map((suspect) => ({ suspect, doubt: doubtByTurns }))];
}

/** Whether early requests come only after a rejection, or also if the response is late. A kind without a time has no early requests. */
async function findDoubtIfLate(
  runs: Runs,
  key: WorkingKey,
  { resendKind, requests }: Suspect,
): Promise<Reason | undefined> {
  if (!resendKind.isTimed) return undefined;

  const seconds = secondsPast(requests);
  const late = { kind: "late", seconds } as const;
  // The client waits for the response, and may then wait as long as after any other one.
  const clientMayWaitMs = seconds * 1000 + longestWait;
  const request = runReplacingLast(key, late, { kind: "resend_control" }, clientMayWaitMs);
  const followed = whatFollowed(await runs.makeOnce(request), key);
  switch (followed.kind) {
    case "not_judged":
      return followed.reason;
    case "sent_again":
      return doubtOfKind(key, resendKind, requests, alsoIfLate);
    case "nothing":
      if (followed.run.result === "passed") return undefined;
      return doubtOfKind(key, resendKind, requests, failedIfLate);
  }
}

/** The seconds after which the client has sent each of these early requests. They are whole, so that kinds share the run. */
function secondsPast(requests: readonly KeyRequest[]): number {
  const latest = Math.max(...requests.map((request) => passedMsIfTooEarly(request) ?? 0));
  return Math.ceil((latest + marginMs) / 1000);
}
