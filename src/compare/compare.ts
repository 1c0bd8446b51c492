import { isoTime } from "../rules/time.js";
import { learnAssumptions } from "./assumptions/assumptions.js";
import { valuesUnlikeKeyStates } from "./assumptions/unlike-key-states.js";
import type { ComparedOutcome, Comparison } from "./comparison.js";
import {
  type ContractDifference,
  type Findings,
  joinFindings,
  listPlaces,
  type Unjudged,
} from "./contract/findings.js";
import { contractOutcomes } from "./contract/keys-of-outcomes.js";
import { judgeAttempt } from "./differences/judge.js";
import { compareSuccesses } from "./differences/successes.js";
import { tryLimits } from "./limits.js";
import { notesOnNames, notesOnVariables } from "./notes.js";
import { compareRejections } from "./rejections/compare-rejections.js";
import { describeResponse } from "./response/describe.js";
import { type Attempt, reachedItsOutcome } from "./sending/attempt.js";
import { tellFailures } from "./sending/send.js";
import { type CompareOptions, type Send, Session } from "./sending/session.js";
import { tryOutcomes } from "./sending/try-outcomes.js";

/** Sends the requests of a comparison, and judges what came of them. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  // The outcomes, the causes of 401 again, and last the limits, after which a key works no more. After the end of a session,
  // each step sends nothing, and only returns why.
  const session = new Session(send, options);
  const outcomes = await tryOutcomes(session);
  const rejections = await compareRejections(session);
  const limits = await tryLimits(session);
  if (session.end?.kind === "not_the_api") return describeNotCompared(session, [outcomes, limits]);

  // First, what cannot be judged, since the service fails now and then.
  const notesOnFailures = tellFailures(session);

  // Judge each attempt alone, and the successes together.
  const { attempts, end, notes } = session;
  const alone: Findings = { differences: attempts.flatMap(judgeAttempt), unjudged: [], notes: [] };
  const found = joinFindings([alone, limits, rejections, outcomes, compareSuccesses(attempts)]);
  const differences = withoutRepetitions(found.differences);
  const judged = judgeOutcomes(session, differences, found.unjudged);

  // Read what the contract leaves open: a response with the status of its outcome shows it.
  const expected = attempts.filter(reachedItsOutcome);
  const { assumptions, unseen, notes: notesOnAssumptions } = learnAssumptions(expected);
  const notesOnEnd = end?.kind === "response" ? [end.message] : [];
  return {
    ...describeSession(session),
    whyNotCompared: undefined,
    endedBy: end?.outcome,
    notes: [
      ...notesOnEnd,
      ...notesOnFailures,
      ...notes,
      ...notesOnNames(attempts),
      ...found.notes,
      ...notesOnAssumptions,
      ...notesOnVariables(attempts, options.env),
    ],
    verdict: chooseVerdict(session, judged),
    outcomes: judged,
    unjudged: found.unjudged,
    assumptions,
    unseen,
    seen: valuesUnlikeKeyStates(expected),
    differences,
  };
}

function describeSession({ options, startedAt, sent, maxRequests }: Session) {
  return { url: options.url, comparedAt: isoTime(startedAt), requests: sent, maxRequests };
}

/** The comparison of a host whose first responses are not the API's: nothing differs from the contract. */
function describeNotCompared(session: Session, steps: readonly Findings[]): Comparison {
  const { message, why } = session.end ?? { message: "", why: "" };
  // An outcome whose request was sent has no reason of its own.
  const all = { outcomes: contractOutcomes.map(({ outcome }) => outcome), why };
  const { assumptions, unseen } = learnAssumptions([]);
  return {
    ...describeSession(session),
    whyNotCompared: message,
    endedBy: undefined,
    notes: [],
    verdict: "not_compared",
    outcomes: judgeOutcomes({ attempts: [], failures: [] }, [], [...joinFindings(steps).unjudged, all]),
    unjudged: [],
    assumptions,
    unseen,
    seen: {},
    differences: [],
  };
}

/** Leaves out each difference that an earlier request for the same outcome has shown, too. */
function withoutRepetitions(differences: readonly ContractDifference[]): ContractDifference[] {
  const byContent = new Map<string, ContractDifference>();
  for (const difference of differences) {
    const { request: _, requestId: __, ...content } = difference;
    const text = JSON.stringify(content);
    if (!byContent.has(text)) byContent.set(text, difference);
  }
  return [...byContent.values()];
}

function chooseVerdict({ end }: Session, outcomes: Comparison["outcomes"]): Comparison["verdict"] {
  const results = outcomes.map(({ result }) => result);
  if (results.includes("differs")) return "differs";
  if (end !== undefined) return "stopped";
  return results.includes("agrees_in_part") ? "agrees_in_part" : "agrees";
}

/** An outcome agrees only if all its responses do, and everything that was to be compared was. */
function judgeOutcomes(
  { attempts, failures }: Pick<Session, "attempts" | "failures">,
  differences: readonly ContractDifference[],
  unjudged: readonly Unjudged[],
): ComparedOutcome[] {
  return contractOutcomes.map(({ outcome }) => {
    const ofOutcome = attempts.filter((attempt) => attempt.outcome === outcome);
    const common = { outcome, variable: ofOutcome[0]?.variable, got: describeResponses(ofOutcome) };
    if (differences.some((difference) => difference.outcome === outcome)) {
      return { ...common, result: "differs", reason: undefined };
    }

    const openHere = unjudged.filter(({ outcomes }) => outcomes.includes(outcome));
    // The latest response tells, since a limit may have been waited for, or one that failed before it.
    const whyOfLatest = ofOutcome.at(-1)?.unjudged;
    const failure = failures.find((attempt) => attempt.outcome === outcome);
    if (ofOutcome.every((attempt) => attempt.unjudged !== undefined)) {
      const reason =
        openHere.find(({ rule, at }) => rule === undefined && at === undefined)?.why ?? whyOfLatest;
      return { ...common, result: "not_tried", reason };
    }

    const reason = describeOpen(openHere) ?? whyOfLatest ?? failure?.unjudged;
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

/** Describes what stays open for an outcome, R14 first; `undefined` if nothing does. */
function describeOpen(openHere: readonly Unjudged[]): string | undefined {
  const ofR14 = openHere.filter(({ rule }) => rule === "R14");
  const everywhere = ofR14.find(({ at }) => at === undefined);
  if (everywhere !== undefined) return `R14 was not compared: ${everywhere.why}`;
  const [first] = ofR14;
  if (first !== undefined) return `R14 was not judged at ${listPlaces(ofR14)}, because ${first.why}`;

  const ofCounts = openHere.find(({ rule }) => rule === "R24");
  if (ofCounts !== undefined) return `usage.today was not compared: ${ofCounts.why}`;

  const ofPlace = openHere.find(({ rule, at }) => rule === undefined && at !== undefined);
  return ofPlace && `${ofPlace.at} was not judged: ${ofPlace.why}`;
}
