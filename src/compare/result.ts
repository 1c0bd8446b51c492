import { pluralize } from "../report/plain-text.js";
import { outcomeRow, type PromisedOutcomeId } from "../rules/outcomes.js";
import type { Learned } from "./assumptions/assumptions.js";
import type { ValuesUnlikeKeyStates } from "./assumptions/unlike-key-states.js";
import { contractOutcomes } from "./contract/keys-of-outcomes.js";
import type { ContractDifference } from "./differences/contract-difference.js";
import { shownText } from "./response/describe.js";
import { describeResponse } from "./response/describe-response.js";
import type { Attempt } from "./sending/attempt.js";

/** The findings of a comparison; contains no key. */
export interface Comparison extends Pick<Learned, "assumptions" | "unseen"> {
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
  /** The causes of 401 that were tried, and not compared with the others (R14). */
  readonly uncompared: readonly PromisedOutcomeId[];
  /** The places of a 401 that were not compared, or show nothing about R14, with the outcomes that agree only elsewhere. */
  readonly unjudged: readonly UnjudgedAt[];
  readonly differences: readonly ContractDifference[];
  readonly seen: ValuesUnlikeKeyStates;
}

interface UnjudgedAt {
  readonly at: string;
  readonly why: string;
  readonly outcomes: readonly PromisedOutcomeId[];
}

export interface ComparedOutcome extends Pick<Attempt, "outcome" | "variable"> {
  /** The different responses in words; `undefined` if nothing was sent. */
  readonly got: string | undefined;
  readonly result: "agrees" | "agrees_in_part" | "differs" | "not_tried";
  /** Why it was not tried, or agrees only in part. */
  readonly reason: string | undefined;
}

/** What the requests of a comparison have shown. */
interface Findings {
  readonly attempts: readonly Attempt[];
  readonly differences: readonly ContractDifference[];
  /** Why outcomes were not tried. */
  readonly untried: ReadonlyMap<PromisedOutcomeId, string>;
  /** Why causes of 401 were not compared with each other. */
  readonly uncompared: ReadonlyMap<PromisedOutcomeId, string>;
  readonly unjudged: readonly UnjudgedAt[];
}

/** How many places are named at most: a server's response can have thousands. */
export const mostPlaces = 3;

export function judgeOutcomes(findings: Findings): ComparedOutcome[] {
  return contractOutcomes.map(({ outcome }) => judgeOutcome(outcome, findings));
}

/** An outcome agrees only if all its responses do, and everything that was to be compared was. */
function judgeOutcome(outcome: PromisedOutcomeId, findings: Findings): ComparedOutcome {
  const attempts = findings.attempts.filter((attempt) => attempt.outcome === outcome);
  const start = { outcome, variable: attempts[0]?.variable, got: describeResponses(attempts) };
  if (findings.differences.some((difference) => difference.outcome === outcome)) {
    return { ...start, result: "differs", reason: undefined };
  }

  // A request that a limit was waited for was sent again.
  const latest = attempts.findLast(({ evidence }) => evidence.kind !== "used_up") ?? attempts.at(-1);
  const isAnyCounted = attempts.some(({ evidence }) => evidence.kind === "counts");
  if (latest === undefined || !isAnyCounted) {
    const reason = findings.untried.get(outcome) ?? whyUncounted(latest);
    return { ...start, result: "not_tried", reason };
  }

  const reasons = [...whysNotAllOfR14(outcome, findings), ...whysUsageUncompared(outcome, findings)];
  const reason = reasons[0] ?? whyUncounted(latest);
  return { ...start, result: reason === undefined ? "agrees" : "agrees_in_part", reason };
}

/** Why an attempt shows nothing of its outcome; `undefined` for one that counts. */
function whyUncounted(attempt: Attempt | undefined): string | undefined {
  if (attempt === undefined || attempt.evidence.kind === "counts") return undefined;
  return attempt.evidence.why;
}

/** The different responses in their order; `undefined` if nothing was sent. */
function describeResponses(attempts: readonly Attempt[]): string | undefined {
  if (attempts.length === 0) return undefined;
  const got = new Set<string>();
  for (const { response } of attempts) {
    got.add(response === undefined ? "no response" : describeResponse(response));
  }
  return [...got].join(", then ");
}

/** Returns why a 401 was not compared with those of other causes, or not at each place; nothing if it was. */
function whysNotAllOfR14(outcome: PromisedOutcomeId, findings: Findings): string[] {
  const whyUncompared = findings.uncompared.get(outcome);
  if (whyUncompared !== undefined) return [`R14 was not compared: ${whyUncompared}`];

  const places = findings.unjudged.filter(({ outcomes }) => outcomes.includes(outcome));
  if (places.length === 0) return [];
  const named = places.slice(0, mostPlaces);
  const words = named.map(({ at, why }) => `at ${shownText(at)}, because ${why}`);
  const more = places.length - named.length;
  if (more > 0) words.push(`and at ${pluralize(more, "place")} more`);
  return [`R14 was not judged ${words.join("; ")}`];
}

/** Returns why a working key has no second response, which shows whether requests are counted; nothing if it has. */
function whysUsageUncompared(outcome: PromisedOutcomeId, findings: Findings): string[] {
  const why = findings.untried.get(outcome);
  if (outcomeRow(outcome).status !== 200 || why === undefined) return [];
  return [`usage.today was not compared: ${why}`];
}
