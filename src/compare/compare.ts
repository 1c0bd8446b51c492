import { isLoopbackHost } from "../node/host-names.js";
import { parseApiKey } from "../rules/keys/key-text.js";
import { isoTime } from "../rules/time.js";
import { learnAssumptions } from "./assumptions.js";
import { type Attempt, describeAttempt, isJudged } from "./attempts.js";
import type { ContractDifference, PromisedOutcomeId, Unjudged } from "./findings.js";
import { notesOnNames } from "./judge.js";
import { contractOutcomes, inReportOrder, keysInVariables, notesOnVariables } from "./keys.js";
import { tryLimits } from "./limits.js";
import { sendPasses, settleDeviations } from "./passes.js";
import type { ComparedOutcome, Comparison } from "./report.js";
import { type CompareOptions, type Send, Session } from "./session.js";

// A comparison from its first request to its verdict, and the front of this room. The answers of its parts:
//
// | question | file |
// |---|---|
// | when is a response a difference | `passes.ts` |
// | what is not as promised in a response | `judge.ts`; next to other 200s `successes.ts`, next to other 401s `rejections.ts` |
// | what follows a 429 | `session.ts` |
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

  const { end, notes } = session;
  const settled = settleDeviations(session);
  const differences = [...settled.differences, ...differencesOfLimits];
  const unjudged = [...session.unjudged, ...settled.unjudged];
  const attempts = inReportOrder(session.attempts, ({ outcome }) => outcome);
  const judged = judgeOutcomes(attempts, differences, unjudged, session.whyNotTried);
  const { assumptions, unseen, seen, notes: notesOnAssumptions } = learnAssumptions(attempts);
  return {
    url: options.url,
    comparedAt: isoTime(session.startedAt),
    requests: session.sent,
    maxRequests: session.maxRequests,
    whyNotCompared: end?.kind === "not_the_api" ? end.message : undefined,
    endedBy: end?.attempt?.outcome,
    notes: [
      ...(end?.kind === "response" ? [end.message] : []),
      ...(session.hasRunOut ? [`The requests ran out: --max-requests is ${session.maxRequests}.`] : []),
      ...settled.notes,
      ...notes,
      ...notesOnNames(attempts),
      ...notesOnAssumptions,
      ...notesOnVariables(options.env),
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

function chooseVerdict({ end }: Session, outcomes: Comparison["outcomes"]): Comparison["verdict"] {
  if (end?.kind === "not_the_api") return "not_compared";
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
  whyNotTried: ReadonlyMap<PromisedOutcomeId, string>,
): ComparedOutcome[] {
  return contractOutcomes.map(({ outcome }) => {
    const ofOutcome = attempts.filter((attempt) => attempt.outcome === outcome);
    const got = [...new Set(ofOutcome.map(describeAttempt))].join(", then ");
    const common = { outcome, variable: ofOutcome[0]?.variable, got: got === "" ? undefined : got };
    if (differences.some((difference) => difference.outcome === outcome)) {
      return { ...common, result: "differs", reason: undefined };
    }

    // The latest response tells, since a limit may have been waited for.
    const standing = ofOutcome.at(-1)?.standing;
    const whyOfLatest = standing?.kind === "unjudged" ? standing.why : undefined;
    // Nothing was sent, or nothing that was sent is judged.
    if (!ofOutcome.some(isJudged)) {
      return { ...common, result: "not_tried", reason: whyNotTried.get(outcome) ?? whyOfLatest };
    }

    const ofUnjudged = unjudged.filter(({ outcomes }) => outcomes.includes(outcome));
    const reason = whyNotTried.get(outcome) ?? describeUnjudged(ofUnjudged) ?? whyOfLatest;
    return { ...common, result: reason === undefined ? "agrees" : "agrees_in_part", reason };
  });
}

/** Describes the first of what was not judged of an outcome, with the number of others for the same reason. */
function describeUnjudged([first, ...others]: readonly Unjudged[]): string | undefined {
  if (first === undefined) return undefined;
  const { at, why } = first;
  const more = others.filter((other) => other.why === why && other.at !== at).length;
  return more === 0 ? `${at} was not judged: ${why}` : `${at} and ${more} more were not judged: ${why}`;
}
