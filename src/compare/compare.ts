import { outcomeRow, type PromisedOutcomeId } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import { learnAssumptions } from "./assumptions/assumptions.js";
import { valuesUnlikeKeyStates } from "./assumptions/unlike-key-states.js";
import type { Comparison } from "./comparison.js";
import { contractOutcomes, isLimit } from "./contract/keys-of-outcomes.js";
import type { ContractDifference } from "./differences/contract-difference.js";
import { judgeAttempt } from "./differences/judge.js";
import { compareSuccesses, type SecondSuccess } from "./differences/successes.js";
import { judgeOutcomes } from "./judge-outcomes.js";
import { tryLimits } from "./limits/limits.js";
import { notesOnNames, notesOnVariables } from "./notes.js";
import { compareRejections } from "./rejections/causes-of-401.js";
import { type SentAgain, sendRejectionsAgain } from "./rejections/send-again.js";
import { recognizeApiInAll } from "./sending/api-recognition.js";
import { type Attempt, type CompletedAttempt, completedWith } from "./sending/attempt.js";
import type { CompareOptions, Send } from "./sending/compare-options.js";
import type { NotTheApi, SessionProgress } from "./sending/progress.js";
import { repeatAttempt, tryOutcome } from "./sending/send-attempt.js";
import { Session } from "./sending/session.js";

/** Sends the requests of a comparison, and judges what came of them. */
export async function compareWithContract(send: Send, options: CompareOptions): Promise<Comparison> {
  // The outcomes, the causes of 401 again, and last the limits, after which a key works no more. After the end of a session,
  // each step only keeps why it sends nothing.
  const session = new Session(send, options);
  const secondSuccess = await tryOutcomes(session);
  const sentAgain = await sendRejectionsAgain(session);
  const differencesOfLimits = await tryLimits(session);

  const { progress } = session;
  if (progress.kind === "not_compared") return describeNotCompared(session, progress);
  return judgeSession(session, progress, { secondSuccess, sentAgain, differencesOfLimits });
}

/** Sends a request for each outcome that needs no limit to be reached, and a second one with a key that works. */
async function tryOutcomes(session: Session): Promise<SecondSuccess> {
  // The outcomes without a key come first: a host gets a key only if its responses could be the API's.
  const rows = contractOutcomes.filter(({ outcome }) => !isLimit(outcome));
  for (const row of rows) {
    if (row.variables.length === 0) await tryOutcome(session, row);
  }
  const recognition = recognizeApiInAll(session.attempts, session.options.url);
  session.endUnlessApi(recognition, "nothing was sent after the requests without a working key");

  for (const row of rows) {
    if (row.variables.length > 0) await tryOutcome(session, row);
  }

  // The second response to the same key shows whether requests are counted, and whether the rejected keys led to a lock.
  const [working] = completedWith(session.attempts, 200);
  if (working === undefined) return { kind: "no_working_key" };
  return repeatAttempt(session, working);
}

/** What the steps of a comparison have found, apart from the attempts themselves. */
interface StepResults {
  readonly secondSuccess: SecondSuccess;
  readonly sentAgain: SentAgain;
  readonly differencesOfLimits: readonly ContractDifference[];
}

/** Judges what the requests of a session have shown. */
function judgeSession(
  session: Session,
  progress: SessionProgress,
  { secondSuccess, sentAgain, differencesOfLimits }: StepResults,
): Comparison {
  // Judge each attempt alone, and some of them together.
  const { attempts, whyNotTried, budget } = session;
  const rejections = compareRejections(sentAgain);
  const successes = compareSuccesses(attempts, secondSuccess);
  const differences = withoutRepetitions([
    ...attempts.flatMap(judgeAttempt),
    ...differencesOfLimits,
    ...rejections.differences,
    ...successes.differences,
  ]);
  const { openCauses, openPlaces } = rejections;
  const { openCounts } = successes;
  const outcomes = judgeOutcomes({
    attempts,
    differences,
    whyNotTried,
    openCounts,
    openCauses,
    openPlaces,
  });

  // Read what the contract leaves open.
  const expectedAttempts = attempts.filter(hasExpectedStatus);
  const learned = learnAssumptions(expectedAttempts);
  return {
    url: session.options.url,
    comparedAt: isoTime(session.startedAt),
    requests: budget.sent,
    maxRequests: budget.maximum,
    whyNotCompared: undefined,
    endedBy: progress.kind === "ended_by_response" ? progress.outcome : undefined,
    notes: collectNotes(session, progress, [...rejections.notes, ...learned.notes]),
    verdict: chooseVerdict(progress, outcomes),
    outcomes,
    openCauses: [...openCauses.keys()],
    openPlaces,
    assumptions: learned.assumptions,
    needsOfAssumptions: learned.needsOfAssumptions,
    unlikeKeyStates: valuesUnlikeKeyStates(expectedAttempts),
    differences,
  };
}

/** Returns the notes in the order of the report: why it ended early, its way, names, findings, and variables. */
function collectNotes(
  { attempts, notes, options }: Session,
  progress: SessionProgress,
  notesOnFindings: readonly string[],
): string[] {
  const noteOnEnd = progress.kind === "ended_by_response" ? [progress.note] : [];
  return [
    ...noteOnEnd,
    ...notes,
    ...notesOnNames(attempts),
    ...notesOnFindings,
    ...notesOnVariables(attempts, options.env),
  ];
}

/** The comparison of a host whose first responses are not the API's: nothing differs from the contract. */
function describeNotCompared(session: Session, { why, message }: NotTheApi): Comparison {
  const { options, budget } = session;
  const whyNotTried = new Map<PromisedOutcomeId, string>();
  for (const { outcome } of contractOutcomes) {
    whyNotTried.set(outcome, session.whyNotTried.get(outcome) ?? why);
  }

  const { assumptions, needsOfAssumptions } = learnAssumptions([]);
  return {
    url: options.url,
    comparedAt: isoTime(session.startedAt),
    requests: budget.sent,
    maxRequests: budget.maximum,
    whyNotCompared: message,
    endedBy: undefined,
    notes: [],
    verdict: "not_compared",
    outcomes: judgeOutcomes({
      attempts: [],
      differences: [],
      whyNotTried,
      openCounts: new Map(),
      openCauses: new Map(),
      openPlaces: [],
    }),
    openCauses: [],
    openPlaces: [],
    assumptions,
    needsOfAssumptions,
    unlikeKeyStates: {},
    differences: [],
  };
}

/** Leaves out each difference that an earlier request for the same outcome has shown, too. */
function withoutRepetitions(differences: readonly ContractDifference[]): ContractDifference[] {
  const byContent = new Map<string, ContractDifference>();
  for (const difference of differences) {
    const { laterRequest: _, requestId: __, ...content } = difference;
    const text = JSON.stringify(content);
    if (!byContent.has(text)) byContent.set(text, difference);
  }
  return [...byContent.values()];
}

/** Whether an attempt got the status of its outcome: then it shows how the service does what the contract leaves open. */
function hasExpectedStatus(attempt: Attempt): attempt is CompletedAttempt {
  const { outcome, response, evidence } = attempt;
  if (response === undefined || evidence.kind !== "counts") return false;
  return response.status === outcomeRow(outcome).status;
}

function chooseVerdict(progress: SessionProgress, outcomes: Comparison["outcomes"]): Comparison["verdict"] {
  const results = outcomes.map(({ result }) => result);
  if (results.includes("differs")) return "differs";
  if (progress.kind !== "running") return "stopped";
  return results.includes("agrees_in_part") ? "agrees_in_part" : "agrees";
}
