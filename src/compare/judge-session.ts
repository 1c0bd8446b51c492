import { isoTime } from "../rules/time.js";
import { learnAssumptions } from "./assumptions/assumptions.js";
import { valuesUnlikeKeyStates } from "./assumptions/unlike-key-states.js";
import type { Comparison } from "./comparison.js";
import type { ContractDifference } from "./differences/contract-difference.js";
import { judgeAttempt } from "./differences/judge.js";
import { compareSuccesses } from "./differences/successes.js";
import { judgeOutcomes } from "./judge-outcomes.js";
import { notesOnNames, notesOnVariables } from "./notes.js";
import { compareRejections } from "./rejections/causes-of-401.js";
import type { SentAgain } from "./rejections/send-again.js";
import { reachedItsOutcome } from "./sending/attempt.js";
import type { SessionProgress } from "./sending/progress.js";
import type { Session } from "./sending/session.js";

/** Judges what the requests of a session have shown, together with the differences that its limits have shown already. */
export function judgeSession(
  session: Session,
  progress: SessionProgress,
  sentAgain: SentAgain,
  differencesOfLimits: readonly ContractDifference[],
): Comparison {
  // Judge each attempt alone, and some of them together.
  const { attempts, whyNotTried, budget } = session;
  const rejections = compareRejections(sentAgain);
  const successes = compareSuccesses(attempts, whyNotTried);
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
