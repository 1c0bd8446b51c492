import { pluralize } from "../report/plain-text.js";
import type { PromisedOutcomeId } from "../rules/outcomes.js";
import { type ComparedOutcome, mostPlaces, type UnjudgedAt } from "./comparison.js";
import { contractOutcomes } from "./contract/keys-of-outcomes.js";
import type { ContractDifference } from "./differences/contract-difference.js";
import { shownText } from "./response/describe.js";
import { describeResponse } from "./response/describe-response.js";
import type { Attempt } from "./sending/attempt.js";

/** What the requests of a comparison have shown. */
interface Findings {
  readonly attempts: readonly Attempt[];
  readonly differences: readonly ContractDifference[];
  /** Why outcomes are not tried; of use only for those without a response that counts. */
  readonly whysNotTried: ReadonlyMap<PromisedOutcomeId, string>;
  /** Why nobody can tell whether the requests of a key are counted, by the outcome of the key. */
  readonly whysUsageOpen: ReadonlyMap<PromisedOutcomeId, string>;
  /** Why causes of 401 were not compared with each other. */
  readonly uncompared: ReadonlyMap<PromisedOutcomeId, string>;
  readonly unjudged: readonly UnjudgedAt[];
}

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

  // A request whose limit was waited for was sent again: the later response is the one that tells.
  const latest = attempts.findLast(({ evidence }) => evidence.kind !== "limited_before") ?? attempts.at(-1);
  const hasShown = attempts.some(({ evidence }) => evidence.kind === "counts");
  if (latest === undefined || !hasShown) {
    const reason = findings.whysNotTried.get(outcome) ?? reasonOfAttempt(latest);
    return { ...start, result: "not_tried", reason };
  }

  const reasons = [reasonOnR14(outcome, findings), reasonOnUsage(outcome, findings), reasonOfAttempt(latest)];
  const reason = reasons.find((text) => text !== undefined);
  return { ...start, result: reason === undefined ? "agrees" : "agrees_in_part", reason };
}

/** Returns why an attempt shows nothing of its outcome; `undefined` for an attempt that counts. */
function reasonOfAttempt(attempt: Attempt | undefined): string | undefined {
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

/** Returns why R14 stays open for a 401, at each place or at some; `undefined` if it was judged. */
function reasonOnR14(outcome: PromisedOutcomeId, { uncompared, unjudged }: Findings): string | undefined {
  const whyUncompared = uncompared.get(outcome);
  if (whyUncompared !== undefined) return `R14 was not compared: ${whyUncompared}`;

  const places = unjudged.filter(({ outcomes }) => outcomes.includes(outcome));
  if (places.length === 0) return undefined;
  const named = places.slice(0, mostPlaces);
  const words = named.map(({ at, why }) => `at ${shownText(at)}, because ${why}`);
  const more = places.length - named.length;
  if (more > 0) words.push(`and at ${pluralize(more, "place")} more`);
  return `R14 was not judged ${words.join("; ")}`;
}

/** Returns why the two responses to a working key were not compared in their counts; `undefined` if they were. */
function reasonOnUsage(outcome: PromisedOutcomeId, { whysUsageOpen }: Findings): string | undefined {
  const why = whysUsageOpen.get(outcome);
  return why === undefined ? undefined : `usage.today was not compared: ${why}`;
}
