import { isSuccess, type OutcomeId, outcomeRow } from "../../rules/outcomes.js";
import { listed } from "../../schema/words.js";
import { isFirstWrongAnswerMade, makeFirstWrongAnswerOnce } from "../answers.js";
import type { Note } from "../checks/judgment.js";
import type { RequestFacts, SentKey } from "../client-runs/client-run.js";
import type { Runs } from "../client-runs/runs.js";
import { nameOfKey } from "./resend-kinds.js";

/** How soon the next request of a row comes, in milliseconds: another test's comes later. */
const inARowMs = 1000;

/** A rejected key that the client may send again by itself. */
interface RepeatedKey {
  /** Such as `ACTIVE`. */
  readonly name: string;
  readonly requestCount: number;
  readonly status: number;
}

/**
 * Notes the keys that the client may send again after a rejection: those that the plain run sent several times in a row, all rejected,
 * and that come less often if the first of these requests is accepted.
 */
export async function noteRepeatedRejections(runs: Runs): Promise<Note[]> {
  const repeatedKeys: RepeatedKey[] = [];
  for (const sentKey of runs.plain.sentKeys) {
    const outcome = onlyRejectionOf(sentKey);
    // A note is worth no run of its own.
    if (outcome === undefined || !isFirstWrongAnswerMade(runs, outcome)) continue;

    // The wrong answer to a rejected key is a 200.
    const accepted = await makeFirstWrongAnswerOnce(runs, outcome);
    if (!isSentLessIfAccepted(sentKey, runs.plain, accepted)) continue;
    const { status } = outcomeRow(outcome);
    repeatedKeys.push({ name: nameOfKey(sentKey.key), requestCount: sentKey.requests.length, status });
  }
  return repeatedKeys.length === 0 ? [] : [noteOn(repeatedKeys)];
}

function noteOn(repeatedKeys: readonly RepeatedKey[]): Note {
  const names: string[] = [];
  const namesAndCounts: string[] = [];
  const statuses = new Set<string>();
  for (const { name, requestCount, status } of repeatedKeys) {
    names.push(name);
    namesAndCounts.push(`${name} ${requestCount} times`);
    statuses.add(`a ${status}`);
  }

  // As in "it 3 times" of a single key, or "ACTIVE 3 times and LIVE 2 times".
  const [first] = repeatedKeys;
  let times = listed(namesAndCounts, "and");
  if (first !== undefined && repeatedKeys.length === 1) times = `it ${first.requestCount} times`;
  return {
    what: `resends of ${listed(names, "and")}`,
    why: `the plain run sent ${times} in a row, after ${listed([...statuses], "or")}, and less often if its first request got a 200`,
    whatToDo:
      "If your client sends it again by itself, stop at the first 401 or 403: its response cannot change.",
  };
}

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
function isSentLessIfAccepted(sentKey: SentKey, plain: RequestFacts, run: RequestFacts): boolean {
  const isFirstAccepted = run.sentKeys.some(
    ({ key, requests }) => key === sentKey.key && requests[0]?.isReplaced,
  );
  const isSentLess = countSent(run, sentKey.key) < sentKey.requests.length;
  // A run that ended early would have sent other keys less often, too.
  const otherKeys = plain.sentKeys.filter(({ key }) => key !== sentKey.key);
  const areOthersSentAsOften = otherKeys.every(({ key }) => countSent(run, key) === countSent(plain, key));
  return isFirstAccepted && isSentLess && areOthersSentAsOften;
}

function countSent({ sentKeys }: RequestFacts, ref: string): number {
  const sentKey = sentKeys.find(({ key }) => key === ref);
  return sentKey?.requests.length ?? 0;
}
