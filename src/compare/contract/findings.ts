import { pluralize } from "../../report/plain-text.js";
import { listed } from "../../schema/words.js";
import type { ContractRule, PromisedOutcomeId } from "./contract-rules.js";

/** A difference in a response, whichever request has got it. */
export interface ResponseDifference {
  readonly rules: readonly ContractRule[];
  /** A header's name, a member's JSON path (`$.data.limits.per_day`), or another place in words, such as `status`. */
  readonly at: string;
  readonly expected: string;
  readonly found: string;
}

/** A place where a response differs from the contract. */
export interface ContractDifference extends ResponseDifference {
  readonly outcome: PromisedOutcomeId;
  /** The number of its request among those for the outcome, if it is not the first one. */
  readonly request?: number;
  readonly requestId?: string;
}

/** Something that was not judged. */
export interface Unjudged {
  readonly outcomes: readonly PromisedOutcomeId[];
  /**
   * The rule that stays open for the outcomes: the causes of 401 (R14), or counts (R24). None: they were not tried, or no rule is
   * about the place.
   */
  readonly rule?: "R14" | "R24";
  /** The place where the rule stays open. None: each place. */
  readonly at?: string;
  readonly why: string;
}

/** What a step of a comparison has found, apart from its attempts. */
export interface Findings {
  readonly differences: readonly ContractDifference[];
  readonly unjudged: readonly Unjudged[];
  readonly notes: readonly string[];
}

export const noFindings: Findings = { differences: [], unjudged: [], notes: [] };

export function joinFindings(steps: readonly Findings[]): Findings {
  return {
    differences: steps.flatMap(({ differences }) => differences),
    unjudged: steps.flatMap(({ unjudged }) => unjudged),
    notes: steps.flatMap(({ notes }) => notes),
  };
}

/** Returns the causes of 401 that were tried, and not compared with the others (R14). */
export function uncomparedCauses(unjudged: readonly Unjudged[]): PromisedOutcomeId[] {
  const causes: PromisedOutcomeId[] = [];
  for (const { rule, at, outcomes } of unjudged) {
    if (rule === "R14" && at === undefined) causes.push(...outcomes);
  }
  return causes;
}

/** So many places are named at most: a server's response can have thousands. */
const mostNamed = 3;

/** Lists the first places, and how many more there are: `X-Via, X-Node, $.error.message and 2 places more`. */
export function listPlaces(unjudged: readonly Unjudged[]): string {
  const places = new Set<string>();
  for (const { at } of unjudged) if (at !== undefined) places.add(at);
  const words = [...places].slice(0, mostNamed);
  const more = places.size - words.length;
  if (more > 0) words.push(`${pluralize(more, "place")} more`);
  return listed(words, "and");
}
