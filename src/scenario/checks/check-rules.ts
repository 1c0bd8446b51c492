import type { FieldProblem, ScenarioPlaces } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { endpointRules } from "./endpoint-rules.js";
import { noUselessFaults } from "./fault-rules.js";
import { defaultScopesAreKnown, keyRules } from "./key-rules.js";
import { keyStateRules } from "./key-state-rules.js";
import { refRules } from "./ref-rules.js";
import { replacementRules } from "./replacement-rules.js";
import { settingsAreShared } from "./rotation-rules.js";
import { ruleInputOf, type ScenarioRule } from "./rule-input.js";
import { secretsMatchKeys } from "./secret-rules.js";
import { sizeRules } from "./size-rules.js";
import { stepsArePossible } from "./step-rules.js";
import { timeRules } from "./time-rules.js";

/** The rules of a scenario. Those of a stage rely on all stages before: they run only if these found no problem. */
const stages: readonly (readonly ScenarioRule[])[] = [
  // The scenario is not too large to be compared.
  sizeRules,
  // The fields of each thing agree, and each ref is that of one thing.
  [
    ...refRules,
    ...timeRules,
    ...keyRules,
    ...keyStateRules,
    secretsMatchKeys,
    ...endpointRules,
    stepsArePossible,
  ],
  // Each key has at most one replacement and replaces at most one key, without circles.
  replacementRules,
  [settingsAreShared, defaultScopesAreKnown, noUselessFaults],
];

/** Compares the fields of a scenario that has its shape, and finds the rules that it breaks. */
export function checkRules(
  scenario: Scenario,
  spelling: ScenarioPlaces["spelling"],
): readonly FieldProblem[] {
  const input = ruleInputOf(scenario, spelling);
  const { problems } = input;
  for (const rules of stages) {
    for (const rule of rules) rule(input);
    if (problems.found.length > 0) break;
  }
  return problems.found;
}
