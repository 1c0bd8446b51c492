import { isSuccess, type OutcomeId, outcomeRow } from "../rules/outcomes.js";
import { listed } from "../schema/words.js";
import { type Note, shownOr } from "./checks/judgment.js";
import { type ClientRun, requestsWith, type SentKey } from "./client-runs/client-run.js";
import type { Runs } from "./client-runs/runs.js";
import { nameOfKey } from "./resends/resend-kinds.js";

/**
 * Notes the keys that the client may send again after a rejection: those that the plain run sent several times in a row, all rejected,
 * and that come less often if the first of these requests is accepted. The wrong answer to a rejected key, which accepts it, is a 200.
 */
export async function noteRepeatedRejections(runs: Runs): Promise<Note[]> {
  const names: string[] = [];
  const times: string[] = [];
  const statuses = new Set<string>();
  for (const sentKey of runs.plain.sentKeys) {
    const outcome = onlyRejectionOf(sentKey);
    if (outcome === undefined || !isAskedFor(runs, outcome)) continue;
    const accepted = await shownOr(runs.makeWrongAnswer("first", outcome), () => undefined);
    if (accepted === undefined || !isSentLessIfAccepted(sentKey, runs.plain, accepted)) continue;
    names.push(nameOfKey(sentKey.key));
    times.push(`${sentKey.requests.length} times`);
    statuses.add(`a ${outcomeRow(outcome).status}`);
  }
  if (names.length === 0) return [];

  // As in "it 3 times" of a single key, or "ACTIVE 3 times and LIVE 2 times".
  const namedTimes = times.map((count, index) => `${names.length === 1 ? "it" : names[index]} ${count}`);
  return [
    {
      what: `resends of ${listed(names, "and")}`,
      why: `the plain run sent ${listed(namedTimes, "and")} in a row, after ${listed([...statuses], "or")}, and less often if its first request got a 200`,
      whatToDo:
        "If your client sends it again by itself, stop at the first 401 or 403: its response cannot change.",
    },
  ];
}

/** A note is worth no run of its own, unless only resends are asked for: one that holds must not hide it. */
function isAskedFor(runs: Runs, outcome: OutcomeId): boolean {
  if (runs.isFirstWrongAnswerMade(outcome)) return true;
  const isOfResends = runs.plan.only?.some((name) => name.split(".")[0] === "resend") === true;
  return isOfResends && runs.outcomesToJudge.includes(outcome);
}

/** How soon the next request of a row comes, in milliseconds: another test's comes later. */
const inARowMs = 1000;

/** The outcome of a key that was sent twice or more in a row, and got the same 401 or 403 each time; `undefined` for any other key. */
function onlyRejectionOf({ isUnknown, requests }: SentKey): OutcomeId | undefined {
  const [first] = requests;
  if (first === undefined || requests.length < 2 || isUnknown) return undefined;

  const { outcome } = first;
  const { status } = outcomeRow(outcome);
  if (isSuccess(outcome) || (status !== 401 && status !== 403)) return undefined;

  let before = first;
  for (const request of requests) {
    if (request.outcome !== outcome || request.at - before.at > inARowMs) return undefined;
    before = request;
  }
  return outcome;
}

/** Whether a run sent the key less often than the plain run because its first request was accepted. */
function isSentLessIfAccepted({ key: ref, requests }: SentKey, plain: ClientRun, run: ClientRun): boolean {
  const inRun = requestsWith(run, ref);
  const isFirstAccepted = inRun[0]?.isReplaced === true;
  // A run that ended early would have sent other keys less often, too. A client that resends once only sends another one more often then.
  const others = plain.sentKeys.filter(({ key }) => key !== ref);
  const areOthersSentAsOften = others.every(
    (other) => requestsWith(run, other.key).length >= other.requests.length,
  );
  return isFirstAccepted && inRun.length < requests.length && areOthersSentAsOften;
}
