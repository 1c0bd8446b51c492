import { variableOf } from "../rules/api-key.js";
import { type OutcomeId, outcomeOf } from "../rules/outcomes.js";
import { listed } from "../rules/schema/words.js";
import type { Client } from "./client.js";
import { checkOf, type Judgment, notJudged, type Reason } from "./judgment.js";
import type { ClientRun } from "./run.js";
import { wordsOf } from "./varied-points.js";

/** A kind holds only if no run contradicts it: one that passed, and sent a key with its own 401 or 403 more often than the plain run. */
export function contradicted(resent: Judgment, { plain, all }: Client): Judgment {
  const passed = all.filter(({ result }) => result === "passed");
  const checks = resent.checks.map((check) => {
    const reason = check.result.kind === "held" ? whyContradicted(check.name, plain, passed) : undefined;
    return reason === undefined ? check : checkOf(check.name, notJudged(reason));
  });
  return { ...resent, checks };
}

function whyContradicted(name: string, plain: ClientRun, passed: readonly ClientRun[]): Reason | undefined {
  const [, status, code] = name.split(".");
  const isOfKind = (outcome: OutcomeId) =>
    String(outcomeOf(outcome).status) === status && (code === undefined || outcomeOf(outcome).code === code);
  for (const { key, isUnknown } of plain.sent) {
    // A run with another seed sends another key in place of an unknown one.
    const requestsIn = ({ sent }: ClientRun) => {
      const replaced = sent.flatMap(({ requests }) => requests.filter(({ isHit }) => isHit));
      const isReplaced = (outcome: OutcomeId) => replaced.some((request) => request.outcome === outcome);
      return sent
        .filter((one) => (isUnknown ? one.isUnknown : one.key === key))
        .flatMap(({ requests }) => requests)
        .filter(({ outcome, isUnread }) => isOfKind(outcome) && !isUnread && !isReplaced(outcome));
    };
    const contrary = passed.filter((run) => requestsIn(run).length > requestsIn(plain).length);
    const [first] = contrary;
    if (first === undefined) continue;
    const ids = requestsIn(first).map(({ id }) => id);
    const others = passed.filter((run) => !contrary.includes(run));
    return {
      why: `${first.name} sent ${isUnknown ? "a key that no sandbox has" : variableOf(key)} more often than the plain run (${ids.slice(0, 4).join(", ")})${whatDiffers(Number(status), contrary, others)}`,
      whatToDo: `Do not send a key again after a ${status}, whatever else the response has.`,
    };
  }
  return undefined;
}

/** What responses with this status have in all of these runs, and in no other; empty if nothing. */
function whatDiffers(status: number, runs: readonly ClientRun[], others: readonly ClientRun[]): string {
  const ofStatus = (run: ClientRun) => run.points.filter((point) => point.status === status);
  const has = (run: ClientRun, row: string) => ofStatus(run).some((point) => point.row === row);
  const points = runs.slice(0, 1).flatMap(ofStatus);
  const words = points
    .filter(({ row }) => runs.every((run) => has(run, row)) && !others.some((run) => has(run, row)))
    .flatMap(({ row, variant }) => wordsOf(row, variant) ?? []);
  return words.length === 0 ? "" : `, where a ${status} ${listed(words, "and")}`;
}
