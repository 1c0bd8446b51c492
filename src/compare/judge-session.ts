import { isoTime } from "../rules/time.js";
import { learnAssumptions } from "./assumptions/assumptions.js";
import { valuesUnlikeKeyStates } from "./assumptions/unlike-key-states.js";
import type { Comparison } from "./comparison.js";
import type { WhyByOutcome } from "./contract/promised-outcome.js";
import type { ContractDifference } from "./differences/contract-difference.js";
import { judgeAttempt } from "./differences/judge.js";
import { compareSuccesses } from "./differences/successes.js";
import { judgeOutcomes } from "./judge-outcomes.js";
import { notesOnNames, notesOnVariables } from "./notes.js";
import { compareRejections } from "./rejections/causes-of-401.js";
import type { RepeatedRejections } from "./rejections/send-again.js";
import { reachedItsOutcome } from "./sending/attempt.js";
import type { SessionProgress } from "./sending/progress.js";
import type { Session } from "./sending/session.js";

/** What the steps of a comparison return, apart from the attempts in the session. */
interface StepResults {
  readonly rejections: RepeatedRejections;
  readonly whyNotTried: WhyByOutcome;
  /** Why a working key has not had its second request. */
  readonly whyNotRepeated: WhyByOutcome;
  readonly differencesOfLimits: readonly ContractDifference[];
}

/** Judges what the requests of a session have shown. */
export function judgeSession(session: Session, progress: SessionProgress, steps: StepResults): Comparison {
  // Judge each attempt alone, and some of them together.
  const { attempts, budget } = session;
  const rejections = compareRejections(steps.rejections);
  const successes = compareSuccesses(attempts);
  const differences = withoutRepetitions([
    ...attempts.flatMap(judgeAttempt),
    ...steps.differencesOfLimits,
    ...rejections.differences,
    ...successes.differences,
  ]);
  const { openCauses, openPlaces } = rejections;
  const outcomes = judgeOutcomes({
    attempts,
    differences,
    whyNotTried: steps.whyNotTried,
    openCounts: new Map([...successes.openCounts, ...steps.whyNotRepeated]),
    openCauses,
    openPlaces,
  });

  // Read what the contract leaves open: a response with the status of its outcome shows it.
  const expectedAttempts = attempts.filter(reachedItsOutcome);
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
    unseenAssumptions: learned.unseenAssumptions,
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

function chooseVerdict(progress: SessionProgress, outcomes: Comparison["outcomes"]): Comparison["verdict"] {
  const results = outcomes.map(({ result }) => result);
  if (results.includes("differs")) return "differs";
  if (progress.kind !== "running") return "stopped";
  return results.includes("agrees_in_part") ? "agrees_in_part" : "agrees";
}
