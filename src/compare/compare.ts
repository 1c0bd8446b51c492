import { isoTime } from "../rules/time.js";
import { type Learned, learnAssumptions } from "./assumptions/assumptions.js";
import { type ValuesUnlikeKeyStates, valuesUnlikeKeyStates } from "./assumptions/unlike-key-states.js";
import {
  type ContractDifference,
  type Findings,
  joinFindings,
  listPlaces,
  noFindings,
  type PromisedOutcomeId,
  type Unjudged,
} from "./contract/findings.js";
import {
  contractOutcomes,
  findKey,
  isLimit,
  notesOnVariables,
  type PlannedRequest,
  plannedSuccesses,
} from "./contract/keys-of-outcomes.js";
import { judgeAttempt, notesOnNames } from "./differences/judge.js";
import { compareSuccesses } from "./differences/successes.js";
import { tryLimits } from "./limits.js";
import { compareRejections } from "./rejections/compare-rejections.js";
import { describeResponse } from "./response/describe.js";
import { isOfTheApi, whyNoneIsOfTheApi } from "./sending/api-recognition.js";
import { type Attempt, rightful200s } from "./sending/attempt.js";
import { confirmSurprises, send, tellFailures } from "./sending/send.js";
import { type CompareOptions, type Send, Session } from "./sending/session.js";

// A comparison from its first request to its verdict. The answers of its parts:
//
// | question | file |
// |---|---|
// | when does a 401 reveal its cause | `rejections/compare-rejections.ts`, and of two texts `rejections/compare-texts.ts` |
// | what follows a 429, a 503 or another surprise | `sending/send.ts` |
// | what is learned | `assumptions/assumptions.ts` |
//
// The members of a comparison have the names of `--json`, in camelCase.

/** The findings of a comparison; contains no key. */
export interface Comparison {
  readonly url: string;
  /** When it began: `2026-03-02T09:00:00Z`. */
  readonly comparedAt: string;
  readonly requests: number;
  readonly maxRequests: number;
  /** In one or two sentences. */
  readonly whyNotCompared: string | undefined;
  /** The outcome whose request ended the comparison, for example with a lock. */
  readonly endedBy: PromisedOutcomeId | undefined;
  readonly notes: readonly string[];
  /**
   * `stopped`: nothing differs, but a response or a signal ended the comparison. `not_compared`: there was no response,
   * or not one of the API.
   */
  readonly verdict: "agrees" | "agrees_in_part" | "differs" | "stopped" | "not_compared";
  readonly outcomes: readonly ComparedOutcome[];
  readonly unjudged: readonly Unjudged[];
  readonly assumptions: Learned["assumptions"];
  /** What would show the assumptions that no response has shown. */
  readonly unseen: Learned["unseen"];
  /** What no assumption sets, and the service does in another way than `key-states`. */
  readonly seen: ValuesUnlikeKeyStates;
  readonly differences: readonly ContractDifference[];
}

export interface ComparedOutcome {
  readonly outcome: PromisedOutcomeId;
  /** The variable with its key; `undefined` if it needs none, or nothing was sent. */
  readonly variable: string | undefined;
  /** The different responses in words; `undefined` if nothing was sent. */
  readonly got: string | undefined;
  readonly result: "agrees" | "agrees_in_part" | "differs" | "not_tried";
  /** Why it was not tried, or agrees only in part. */
  readonly reason: string | undefined;
}

/** Sends the requests of a comparison, and judges what came of them. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  // The outcomes, the causes of 401 again, and last the limits, after which a key works no more. After the end of a session,
  // each step sends nothing, and only returns why.
  const session = new Session(send, options);
  const outcomes = await tryOutcomes(session);
  const rejections = await compareRejections(session);
  await confirmSurprises(session);
  const limits = await tryLimits(session);
  if (session.end?.kind === "not_the_api") return describeNotCompared(session, [outcomes, limits]);

  // First, what cannot be judged, since the service fails now and then.
  const notesOnFailures = tellFailures(session);

  // Judge each attempt alone, and the successes together.
  const { attempts, end, notes } = session;
  const alone: Findings = { ...noFindings, differences: attempts.flatMap(judgeAttempt) };
  const found = joinFindings([alone, limits, rejections, outcomes, compareSuccesses(attempts)]);
  const differences = withoutRepetitions(found.differences);
  const judged = judgeOutcomes(session, differences, found.unjudged);

  const { assumptions, unseen, notes: notesOnAssumptions } = learnAssumptions(attempts);
  const notesOnEnd = end?.kind === "response" ? [end.message] : [];
  return {
    ...describeSession(session),
    whyNotCompared: undefined,
    endedBy: end?.attempt?.outcome,
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
    seen: valuesUnlikeKeyStates(attempts),
    differences,
  };
}

/** Sends a request for each outcome that needs no limit to be reached, and a second one with a key that works. */
async function tryOutcomes(session: Session): Promise<Findings> {
  const { attempts, options } = session;
  const unjudged: Unjudged[] = [];
  const withoutKey: PlannedRequest[] = [];
  const withKey: PlannedRequest[] = [];
  for (const row of contractOutcomes) {
    const { outcome } = row;
    if (isLimit(outcome)) continue;
    const key = findKey(row, options.env);
    if (key.kind === "no_key") unjudged.push({ outcomes: [outcome], why: key.why });
    else if (key.variable === undefined) withoutKey.push({ outcome });
    else withKey.push({ outcome, variable: key.variable });
  }

  const sendAll = async (requests: readonly PlannedRequest[]) => {
    for (const request of requests) {
      const result = await send(session, request);
      if (result.kind === "not_sent") unjudged.push({ outcomes: [request.outcome], why: result.why });
    }
  };
  // A host gets a key only if its responses to the requests without one could be the API's. As soon as one is, a working key
  // comes before the keys that are rejected: these can lead to a lock.
  const [first, ...otherWithoutKey] = withoutKey;
  if (first !== undefined) await sendAll([first]);
  const [working] = attempts.some(isOfTheApi) ? plannedSuccesses(options.env) : [];
  if (working !== undefined) await sendAll([working]);
  await sendAll(otherWithoutKey);
  const message = whyNoneIsOfTheApi(attempts, options.url);
  session.endIfNotTheApi(message, "nothing was sent after the requests without a working key");
  await sendAll(withKey.filter(({ outcome }) => outcome !== working?.outcome));

  // The second response to the same key shows whether requests are counted, and whether the rejected keys led to a lock.
  const [success] = rightful200s(attempts);
  if (success !== undefined) {
    const { outcome, variable } = success;
    const result = await send(session, { outcome, variable });
    if (result.kind === "not_sent") {
      unjudged.push({ outcomes: [outcome], rule: "R24", at: "$.data.usage.today", why: result.why });
    }
  }
  return { ...noFindings, unjudged };
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

    const unjudgedHere = unjudged.filter(({ outcomes }) => outcomes.includes(outcome));
    // The latest response tells, since a limit may have been waited for, or one that failed before it.
    const whyOfLatest = ofOutcome.at(-1)?.whyUnjudged;
    // Nothing was sent, or nothing that was sent is judged.
    if (ofOutcome.every(({ whyUnjudged }) => whyUnjudged !== undefined)) {
      const whyNotSent = unjudgedHere.find(({ rule, at }) => rule === undefined && at === undefined)?.why;
      return { ...common, result: "not_tried", reason: whyNotSent ?? whyOfLatest };
    }

    const failure = failures.find((attempt) => attempt.outcome === outcome);
    const reason = describeUnjudged(unjudgedHere) ?? whyOfLatest ?? failure?.whyUnjudged;
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
function describeUnjudged(unjudgedHere: readonly Unjudged[]): string | undefined {
  const ofR14 = unjudgedHere.filter(({ rule }) => rule === "R14");
  const everywhere = ofR14.find(({ at }) => at === undefined);
  if (everywhere !== undefined) return `R14 was not compared: ${everywhere.why}`;
  const [first] = ofR14;
  if (first !== undefined) return `R14 was not judged at ${listPlaces(ofR14)}, because ${first.why}`;

  const ofCounts = unjudgedHere.find(({ rule }) => rule === "R24");
  if (ofCounts !== undefined) return `usage.today was not compared: ${ofCounts.why}`;

  const ofPlace = unjudgedHere.find(({ rule, at }) => rule === undefined && at !== undefined);
  return ofPlace && `${ofPlace.at} was not judged: ${ofPlace.why}`;
}
