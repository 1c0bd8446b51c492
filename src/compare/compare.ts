import { isLoopbackHost } from "../node/host-names.js";
import { parseApiKey } from "../rules/keys/key-text.js";
import { isoTime } from "../rules/time.js";
import { learnAssumptions } from "./assumptions.js";
import { type ContractDifference, listPlaces, type Unjudged } from "./findings.js";
import { notesOnNames } from "./judge.js";
import { contractOutcomes, inReportOrder, keysInVariables, notesOnVariables } from "./keys.js";
import { tryLimits } from "./limits.js";
import { sendPasses, settleDeviations } from "./passes.js";
import { describeResponse } from "./read-response.js";
import { compareRejections } from "./rejections.js";
import type { ComparedOutcome, Comparison } from "./report.js";
import { type Attempt, type CompareOptions, type Send, Session, type SessionEnd } from "./session.js";
import { compareSuccesses } from "./successes.js";

// A comparison from its first request to its verdict, and the front of this room. The answers of its parts:
//
// | question | file |
// |---|---|
// | when is a response a difference | `passes.ts` |
// | what is not as promised in a response | `judge.ts`; next to other 200s `successes.ts`, next to other 401s `rejections.ts` |
// | what follows a 429 | `send.ts` |
// | what is learned | `assumptions.ts` |
//
// The members of a comparison have the names of `--json`, in camelCase.

export { type Comparison, isLearnedScenario, learnedScenario, renderComparison } from "./report.js";

/** Sends the requests of a comparison, and judges what came of them. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  // Last the limits, after which a key works no more. After the end of a session, each step sends nothing, and only tells why.
  const session = new Session(send, options);
  warnOfPlainHttp(options);
  await sendPasses(session);
  const differencesOfLimits = await tryLimits(session);
  if (session.end?.kind === "not_the_api") return describeNotCompared(session, session.end);

  const { end, notes } = session;
  const attempts = inReportOrder(session.attempts, ({ outcome }) => outcome);
  const settled = settleDeviations(session);
  const { changes } = compareSuccesses(session.attempts);
  const rejections = compareRejections(attempts);
  const differences = [...settled.differences, ...differencesOfLimits];
  const unjudged = [...session.unjudged, ...settled.unjudged, ...rejections.unjudged, ...changes];
  const judged = judgeOutcomes(attempts, differences, unjudged);

  const { assumptions, unseen, seen, notes: notesOnAssumptions } = learnAssumptions(attempts);
  return {
    ...describeSession(session),
    whyNotCompared: undefined,
    endedBy: end?.attempt?.outcome,
    notes: [
      ...(end?.kind === "response" ? [end.message] : []),
      ...(session.hasRunOut ? [`The requests ran out: --max-requests is ${session.maxRequests}.`] : []),
      ...settled.notes,
      ...notes,
      ...notesOnNames(attempts),
      ...changes.map(({ at, outcomes, why }) => `${at} of ${outcomes.join()} was not judged: ${why}.`),
      ...rejections.notes,
      ...notesOnAssumptions,
      ...notesOnVariables(attempts, options.env),
    ],
    verdict: chooseVerdict(session, judged),
    outcomes: judged,
    unjudged,
    assumptions,
    unseen,
    seen,
    differences,
  };
}

function warnOfPlainHttp({ url, env, announce }: CompareOptions): void {
  const { protocol, host } = new URL(url);
  if (protocol !== "http:" || isLoopbackHost(host)) return;
  // A sandbox's key is no secret.
  if (keysInVariables(env).every(([, apiKey]) => parseApiKey(apiKey)?.hasMark)) return;
  announce?.(`Keys go to ${host} unencrypted: the base URL starts with http://.`);
}

function describeSession({ options, startedAt, sent, maxRequests }: Session) {
  return { url: options.url, comparedAt: isoTime(startedAt), requests: sent, maxRequests };
}

/** The comparison of a host whose first responses are not the API's: nothing differs from the contract. */
function describeNotCompared(session: Session, { message, why }: SessionEnd): Comparison {
  const all = { outcomes: contractOutcomes.map(({ outcome }) => outcome), why };
  const { assumptions, unseen, seen } = learnAssumptions([]);
  return {
    ...describeSession(session),
    whyNotCompared: message,
    endedBy: undefined,
    notes: [],
    verdict: "not_compared",
    outcomes: judgeOutcomes([], [], [...session.unjudged, all]),
    unjudged: [],
    assumptions,
    unseen,
    seen,
    differences: [],
  };
}

function chooseVerdict({ end }: Session, outcomes: Comparison["outcomes"]): Comparison["verdict"] {
  const results = outcomes.map(({ result }) => result);
  if (results.includes("differs")) return "differs";
  if (end !== undefined) return "stopped";
  return results.includes("agrees_in_part") ? "agrees_in_part" : "agrees";
}

/** An outcome agrees only if all its responses do, and everything that was to be compared was. */
function judgeOutcomes(
  attempts: readonly Attempt[],
  differences: readonly ContractDifference[],
  unjudged: readonly Unjudged[],
): ComparedOutcome[] {
  return contractOutcomes.map(({ outcome }) => {
    const ofOutcome = attempts.filter((attempt) => attempt.outcome === outcome);
    const common = { outcome, variable: ofOutcome[0]?.variable, got: describeResponses(ofOutcome) };
    if (differences.some((difference) => difference.outcome === outcome)) {
      return { ...common, result: "differs", reason: undefined };
    }

    const unjudgedHere = unjudged.filter(({ outcomes }) => outcomes.includes(outcome));
    // The latest response tells, since a limit may have been waited for.
    const whyOfLatest = ofOutcome.at(-1)?.whyUnjudged;
    // Nothing was sent, or nothing that was sent is judged.
    if (ofOutcome.every(({ whyUnjudged }) => whyUnjudged !== undefined)) {
      const whyNotSent = unjudgedHere.find(({ rule, at }) => rule === undefined && at === undefined)?.why;
      return { ...common, result: "not_tried", reason: whyNotSent ?? whyOfLatest };
    }

    const reason = describeUnjudged(unjudgedHere) ?? whyOfLatest;
    return { ...common, result: reason === undefined ? "agrees" : "agrees_in_part", reason };
  });
}

function describeResponses(attempts: readonly Attempt[]): string | undefined {
  if (attempts.length === 0) return undefined;
  const got = new Set<string>();
  for (const { response } of attempts) {
    got.add(response === undefined ? "no response" : describeResponse(response));
  }
  return [...got].join(", then ");
}

/** Describes what was not judged of an outcome, R14 first; `undefined` if everything was. */
function describeUnjudged([first, ...others]: readonly Unjudged[]): string | undefined {
  if (first === undefined) return undefined;
  if (first.at === undefined) return `${first.rule ?? "It"} was not compared: ${first.why}`;
  const places = listPlaces([first, ...others.filter(({ why }) => why === first.why)]);
  return `${places} was not judged: ${first.why}`;
}
