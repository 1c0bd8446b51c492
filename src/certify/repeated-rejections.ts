import { isSuccess, type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import { isAnswerWanted, runFirstWrongAnswer } from "./answers.js";
import type { ClientRun, SentKey } from "./client-run.js";
import type { Note } from "./judgment.js";
import { nameOfKey } from "./resend-kinds.js";
import type { Runs } from "./runs.js";

/** How soon a request comes that is no other test's, in milliseconds. */
const inARowMs = 1000;

/** Notes the keys that the plain run sent several times in a row, all rejected, and that come less often if the first request is accepted. */
export async function noteRepeatedRejections(runs: Runs): Promise<Note[]> {
  const names: string[] = [];
  const counts: number[] = [];
  const statuses = new Set<string>();
  for (const sent of runs.plain.sent) {
    const outcome = repeatedRejection(sent);
    if (outcome === undefined || !isAnswerWanted(runs.plan, outcome)) continue;
    const accepted = await runFirstWrongAnswer(runs, outcome);
    if (accepted === undefined || !isOnlyOneSentLess(sent, runs.plain, accepted)) continue;
    names.push(nameOfKey(sent.key));
    counts.push(sent.requests.length);
    statuses.add(`a ${outcomeOf(outcome).status}`);
  }
  if (names.length === 0) return [];
  const [fewest, most] = [Math.min(...counts), Math.max(...counts)];
  const times = `${fewest === most ? "" : `${fewest} to `}${most} times in a row`;
  return [
    {
      what: `resends of ${listed(names, "and")}`,
      why: `the plain run sent ${names.length === 1 ? "it" : "each"} ${times}, after ${listed([...statuses], "or")}, and less often if its first request got a 200`,
      whatToDo:
        "If your client sends it again by itself, stop at the first 401 or 403: its response cannot change.",
    },
  ];
}

/** The one outcome of a key whose requests, two or more, came in a row and all got a 401 or 403. */
function repeatedRejection({ key, isUnknown, requests }: SentKey): OutcomeId | undefined {
  const [first] = requests;
  if (first === undefined || requests.length < 2 || isUnknown || key === "") return undefined;
  const { outcome } = first;
  const { status } = outcomeOf(outcome);
  if (isSuccess(outcome) || (status !== 401 && status !== 403)) return undefined;
  for (const [index, request] of requests.entries()) {
    const before = requests[index - 1] ?? first;
    if (request.outcome !== outcome || request.at - before.at > inARowMs) return undefined;
  }
  return outcome;
}

/** Whether the run hit this key, which then came less often than in the plain run, and sent each other one as often: it did not end early. */
function isOnlyOneSentLess(sent: SentKey, plain: ClientRun, run: ClientRun): boolean {
  const countIn = (ofRun: ClientRun, key: string) =>
    ofRun.sent.find((ofKey) => ofKey.key === key)?.requests.length ?? 0;
  const isHit = run.sent.some(({ key, requests }) => key === sent.key && requests[0]?.isReplaced);
  if (!isHit || countIn(run, sent.key) >= sent.requests.length) return false;
  return plain.sent.every(({ key }) => key === sent.key || countIn(run, key) === countIn(plain, key));
}
