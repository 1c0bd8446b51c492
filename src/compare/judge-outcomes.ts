import { pluralize } from "../report/plain-text.js";
import { listed } from "../schema/words.js";
import type { ComparedOutcome } from "./comparison.js";
import { contractOutcomes } from "./contract/keys-of-outcomes.js";
import type { PromisedOutcomeId, WhyByOutcome } from "./contract/promised-outcome.js";
import type { ContractDifference } from "./differences/contract-difference.js";
import { firstPlaces } from "./first-places.js";
import type { OpenPlace } from "./rejections/judge-places.js";
import { whyPlaceIsOpen } from "./rejections/rejection-words.js";
import { shownText } from "./response/describe.js";
import { describeResponse } from "./response/describe-response.js";
import type { Attempt } from "./sending/attempt.js";

/** What the requests of a comparison have shown. */
interface Findings {
  readonly attempts: readonly Attempt[];
  readonly differences: readonly ContractDifference[];
  /** Read only for outcomes without a response that is judged. */
  readonly whyNotTried: WhyByOutcome;
  /** Why nobody can tell whether the requests of a key are counted, by the outcome of the key. */
  readonly openCounts: WhyByOutcome;
  /** Why causes of 401 were not compared with each other. */
  readonly openCauses: WhyByOutcome;
  readonly openPlaces: readonly OpenPlace[];
}

export function judgeOutcomes(findings: Findings): ComparedOutcome[] {
  return contractOutcomes.map(({ outcome }) => judgeOutcome(outcome, findings));
}

/** An outcome agrees only if all its responses do, and everything that was to be compared was. */
function judgeOutcome(outcome: PromisedOutcomeId, findings: Findings): ComparedOutcome {
  const attempts = findings.attempts.filter((attempt) => attempt.outcome === outcome);
  const common = { outcome, variable: attempts[0]?.variable, got: describeResponses(attempts) };
  if (findings.differences.some((difference) => difference.outcome === outcome)) {
    return { ...common, result: "differs", reason: undefined };
  }

  const isAnyJudged = attempts.some(({ evidence }) => evidence.kind === "judged");
  if (!isAnyJudged) {
    const reason = findings.whyNotTried.get(outcome) ?? reasonOfLatest(attempts);
    return { ...common, result: "not_tried", reason };
  }

  const reason =
    reasonOnR14(outcome, findings) ?? reasonOnCounts(outcome, findings) ?? reasonOfLatest(attempts);
  return { ...common, result: reason === undefined ? "agrees" : "agrees_in_part", reason };
}

/** Returns why the latest request for an outcome shows nothing; `undefined` if there is none, or if it is judged. */
function reasonOfLatest(attempts: readonly Attempt[]): string | undefined {
  // A request that met a limit, and its control, tell nothing once the limit was waited for: another request tells, unless a
  // signal has ended the wait.
  const notWaitedFor = attempts.filter(({ evidence }) => evidence.kind !== "waited_for");
  const latest = notWaitedFor.at(-1) ?? attempts.at(-1);
  if (latest === undefined || latest.evidence.kind === "judged") return undefined;
  return latest.evidence.why;
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
function reasonOnR14(outcome: PromisedOutcomeId, { openCauses, openPlaces }: Findings): string | undefined {
  const why = openCauses.get(outcome);
  if (why !== undefined) return `R14 was not compared: ${why}`;

  const placesOfOutcome = openPlaces.filter(({ causes }) => causes.includes(outcome));
  if (placesOfOutcome.length === 0) return undefined;
  const { named, more } = firstPlaces(placesOfOutcome);
  const words = named.map(({ place }) => shownText(place.name));
  if (more > 0) words.push(`${pluralize(more, "place")} more`);
  return `R14 was not judged at ${listed(words, "and")}, because ${whyPlaceIsOpen}`;
}

/** Returns why the counts in the responses to a working key were not compared; `undefined` if they were. */
function reasonOnCounts(outcome: PromisedOutcomeId, { openCounts }: Findings): string | undefined {
  const why = openCounts.get(outcome);
  return why === undefined ? undefined : `usage.today was not compared: ${why}`;
}
