import { pluralize } from "../report/plain-text.js";
import { listed } from "../schema/words.js";
import type { ComparedOutcome } from "./comparison.js";
import type { ContractDifference, Unjudged } from "./contract/findings.js";
import { contractOutcomes } from "./contract/keys-of-outcomes.js";
import { describeResponse } from "./response/describe.js";
import type { Attempt } from "./sending/attempt.js";

/** So many places are named at most: a server's response can have thousands. */
const mostNamed = 3;

/** An outcome agrees only if all its responses do, and everything that was to be compared was. */
export function judgeOutcomes(
  attempts: readonly Attempt[],
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
    // The latest response tells: a limit may have been waited for.
    const whyOfLatest = ofOutcome.at(-1)?.unjudged;
    if (ofOutcome.every((attempt) => attempt.unjudged !== undefined)) {
      const reason = openHere.find(({ rule }) => rule === undefined)?.why ?? whyOfLatest;
      return { ...common, result: "not_tried", reason };
    }

    const reason = describeOpen(openHere) ?? whyOfLatest;
    return { ...common, result: reason === undefined ? "agrees" : "agrees_in_part", reason };
  });
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

/** Describes what stays open for an outcome, R14 first; `undefined` if nothing does. */
function describeOpen(openHere: readonly Unjudged[]): string | undefined {
  const ofR14 = openHere.filter(({ rule }) => rule === "R14");
  const everywhere = ofR14.find(({ at }) => at === undefined);
  if (everywhere !== undefined) return `R14 was not compared: ${everywhere.why}`;
  const [first] = ofR14;
  if (first !== undefined) return `R14 was not judged at ${listPlaces(ofR14)}, because ${first.why}`;

  const ofCounts = openHere.find(({ rule }) => rule === "R24");
  return ofCounts && `usage.today was not compared: ${ofCounts.why}`;
}

/** Lists the first places, and how many more there are: `X-Via, X-Node, $.error.message and 2 places more`. */
export function listPlaces(unjudged: readonly Unjudged[]): string {
  const places = new Set<string>();
  for (const { at } of unjudged) if (at !== undefined) places.add(at);
  const words = [...places].slice(0, mostNamed);
  const more = places.size - words.length;
  if (more > 0) words.push(`${pluralize(more, "place")} more`);
  return listed(words, "and");
}
