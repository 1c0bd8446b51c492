import { isLoopbackHost } from "../node/host-names.js";
import { pluralize } from "../report/plain-text.js";
import { parseApiKey } from "../rules/keys/key-text.js";
import { isoTime } from "../rules/time.js";
import { listed } from "../schema/words.js";
import { learnAssumptions } from "./assumptions.js";
import { type Attempt, describeAttempt, isJudged } from "./attempts.js";
import type { ContractDifference, Unjudged } from "./findings.js";
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
  const judged = judgeOutcomes(attempts, differences, unjudged);
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
): ComparedOutcome[] {
  return contractOutcomes.map(({ outcome }) => {
    const ofOutcome = attempts.filter((attempt) => attempt.outcome === outcome);
    const got = [...new Set(ofOutcome.map(describeAttempt))].join(", then ");
    const common = { outcome, variable: ofOutcome[0]?.variable, got: got === "" ? undefined : got };
    if (differences.some((difference) => difference.outcome === outcome)) {
      return { ...common, result: "differs", reason: undefined };
    }

    const ofUnjudged = unjudged.filter(({ outcomes }) => outcomes.includes(outcome));
    // The latest response tells, since a limit may have been waited for.
    const standing = ofOutcome.at(-1)?.standing;
    const whyOfLatest = standing?.kind === "unjudged" ? standing.why : undefined;
    // Nothing was sent, or nothing that was sent is judged.
    if (!ofOutcome.some(isJudged)) {
      const whyNotTried = ofUnjudged.find(({ kind }) => kind === "outcome")?.why;
      return { ...common, result: "not_tried", reason: whyNotTried ?? whyOfLatest };
    }

    const reason = describeUnjudged(ofUnjudged) ?? whyOfLatest;
    return { ...common, result: reason === undefined ? "agrees" : "agrees_in_part", reason };
  });
}

/** So many places are named at most: a server's response can have thousands. */
const mostNamed = 3;

/** Describes the first of what was not judged of an outcome, with all places of the same reason; `undefined` if everything was. */
function describeUnjudged(unjudged: readonly Unjudged[]): string | undefined {
  const [first] = unjudged;
  if (first === undefined) return undefined;
  const { why } = first;
  if (first.kind === "outcome") return why;
  if (first.kind === "rule") return `${first.rule} was not compared: ${why}`;

  const places = new Set<string>();
  for (const one of unjudged) if (one.kind === "place" && one.why === why) places.add(one.at);
  const named = [...places].slice(0, mostNamed);
  const more = places.size - named.length;
  if (more > 0) named.push(`${pluralize(more, "place")} more`);
  return `${listed(named, "and")} ${places.size > 1 ? "were" : "was"} not judged: ${why}`;
}
