import { exampleOfFault } from "../../api/example-faults.js";
import { outcomesToCover } from "../../report/report.js";
import type { FaultOutcomeId } from "../../rules/fault-effects.js";
import { type ApiOutcomeId, faultOutcomeIds, type OutcomeId } from "../../rules/outcomes.js";
import { randomStream } from "../../rules/seed.js";
import type { Fault } from "../../sandbox/active-faults.js";
import { whyNoBodyBreaks } from "../../scenario/checks/fault-contradictions.js";
import { successesOf } from "../../scenario/checks/outcome-rules.js";
import type { LoadedScenario } from "../../scenario/scenario-source.js";
import { didYouMean, quote } from "../../schema/words.js";
import { usageError } from "../exit-codes.js";

/** The faults that `--fault` names, as in `fault.hang@401.revoked`. */
export function readFaults(text: string, { scenario }: LoadedScenario): Fault[] {
  const [name = "", outcome, more] = text.split("@");
  const invalid = `Invalid --fault: ${quote(text)}`;
  const examples = " Use one such as fault.hang or fault.hang@401.revoked.";
  if (more !== undefined) throw usageError(`${invalid} has more than one @.${examples}`);

  const fault = faultOutcomeIds.find((id) => id === name);
  if (fault === undefined) {
    // People leave out the start of the name.
    const hint = didYouMean(name, faultOutcomeIds) || didYouMean(`fault.${name}`, faultOutcomeIds);
    throw usageError(`${invalid} does not name a fault.${hint || examples}`);
  }

  // The fault comes in place of one outcome. Default: of each promised one.
  const promised = outcomesToCover(scenario);
  const outcomes = outcome === undefined ? promised : promised.filter((id) => id === outcome);
  if (outcomes.length === 0) {
    const hint = didYouMean(outcome ?? "", promised) || examples;
    throw usageError(`${invalid} does not name a promised outcome.${hint}`);
  }

  // A fault that breaks the body needs a response with a body.
  const successes = successesOf(scenario);
  const possible: Fault[] = [];
  const whyOthersAreNot: string[] = [];
  for (const candidate of faultsOn(outcomes, fault)) {
    const contradiction = whyNoBodyBreaks(candidate, successes);
    if (contradiction === undefined) possible.push(candidate);
    else whyOthersAreNot.push(`${contradiction.message}; ${contradiction.hint}`);
  }
  if (possible.length === 0) throw usageError(`${invalid}: ${whyOthersAreNot[0]}.`);
  return possible;
}

/** Returns a fault of one kind for the first request that would end on each outcome. */
export function faultsOn(outcomes: readonly OutcomeId[], fault: FaultOutcomeId): Fault[] {
  const faults: Fault[] = [];
  for (const outcome of outcomes) {
    // What the client gets in place of the outcome.
    const then = exampleOfFault(fault, { asPage: sendsPage(outcome) });
    const apiOutcome = outcome as ApiOutcomeId; // a fault is on no other outcome
    faults.push({ when: { outcome: apiOutcome, requests: [1] }, then });
  }
  return faults;
}

/**
 * Whether the status of a fault on an outcome comes with a gateway's page, and not with JSON. A client meets both, so each is on
 * about half of the outcomes, always the same ones.
 */
function sendsPage(outcome: OutcomeId): boolean {
  return randomStream(0, "fault.page", outcome)() % 2 === 1;
}
