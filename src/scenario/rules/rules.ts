import type { Diagnostic } from "../problems/scenario-problem.js";
import type { Scenario } from "../scenario.generated.js";
import { consentsFit } from "./consents.js";
import { factsOf, type ScenarioRule } from "./facts.js";
import { faultsFit } from "./faults.js";
import { activeKeysWithinLimit, expiryFitsState, scopesAreKnown, secretsFit, usageAddsUp } from "./keys.js";
import { refsAreFree, refsExist } from "./refs.js";
import { overlapFitsState, replacementsEnd, replacementsFit } from "./rotations.js";
import { stepsFit, timelineIsInOrder } from "./steps.js";

const rules: readonly ScenarioRule[] = [
  refsAreFree,
  refsExist,
  scopesAreKnown,
  usageAddsUp,
  expiryFitsState,
  activeKeysWithinLimit,
  secretsFit,
  replacementsFit,
  replacementsEnd,
  overlapFitsState,
  faultsFit,
  consentsFit,
  timelineIsInOrder,
  stepsFit,
];

/** Reports everything in which a scenario of the right shape contradicts itself or a rule of the specification. */
export function findContradictions(scenario: Scenario, report: (diagnostic: Diagnostic) => void): void {
  const facts = factsOf(scenario, report);
  for (const rule of rules) rule(facts);
}
