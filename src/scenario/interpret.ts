import { checkShape } from "../schema/check.js";
import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { endpointRules } from "./checks/endpoint-rules.js";
import { noUselessFaults } from "./checks/fault-rules.js";
import { keyCountRules } from "./checks/key-count-rules.js";
import { keyRules } from "./checks/key-rules.js";
import { refRules } from "./checks/ref-rules.js";
import { replacementRules } from "./checks/replacement-rules.js";
import { settingsAreShared } from "./checks/rotation-rules.js";
import { ruleInputOf, type ScenarioRule } from "./checks/rule-input.js";
import { secretsMatchKeys } from "./checks/secret-rules.js";
import { stepRules } from "./checks/step-rules.js";
import { type ParentLookup, resolveExtends } from "./extends.js";
import { scenarioSchema } from "./format/schema.js";
import { withInheritedName } from "./inherited-names.js";
import { addingTo, type FieldProblem, type ScenarioPlaces } from "./problems.js";
import { problemsInOrder } from "./problems-in-order.js";
import { withRefsOfNames } from "./refs-by-name.js";
import type { Scenario } from "./scenario.generated.js";
import { ScenarioError } from "./scenario-error.js";
import { valueAt } from "./value-at.js";
import { fieldWrittenLast, placeOfField, spellingOfField, type WrittenScenario } from "./written-scenario.js";

export interface CheckedScenario extends ScenarioPlaces {
  readonly scenario: Scenario;
}

/** The rules in stages. The rules of a stage rely on what the stages before it check: they run only if those found no problem. */
const rulesInStages: readonly (readonly ScenarioRule[])[] = [
  // Each ref is that of one thing.
  refRules,
  // Each key has at most one replacement and replaces at most one key, without circles.
  replacementRules,
  [settingsAreShared, noUselessFaults],
];

/** The rules that rely on no other rule. */
const independentRules: readonly ScenarioRule[] = [
  ...keyRules,
  ...keyCountRules,
  secretsMatchKeys,
  ...endpointRules,
  ...stepRules,
];

/** Whether a member that its mapping does not have exists only for its anchors, such as `x-limits`. */
function isForAnchors(name: string): boolean {
  return name.startsWith("x-");
}

/** Merges a scenario with the one that it extends, checks its shape, then its fields against each other. Throws a `ScenarioError`. */
export function interpretScenario(written: WrittenScenario, parents: ParentLookup): CheckedScenario {
  const { file, notation } = written;
  const ownScenario = written.scenario;
  const problems: FieldProblem[] = [];
  const addProblem = addingTo(problems);

  for (const problem of written.problems) addProblem(problem);
  const mergeResult = resolveExtends(written, parents);
  for (const problem of mergeResult.problems) addProblem(problem);
  if (ownScenario === undefined || mergeResult.kind === "not_merged") {
    throw new ScenarioError(problemsInOrder(problems, ownScenario, file));
  }

  const merged = mergeResult.scenario;
  const { fields } = merged;
  const shapeCheck = checkShape(scenarioSchema, fields, notation, isForAnchors);
  removeMembers(fields, shapeCheck.extensionFields);
  for (const problem of withRefsOfNames(shapeCheck.problems, fields)) {
    addProblem(withInheritedName(problem, ownScenario.fields, fields));
  }

  const spelling = (field: FieldPath) => spellingOfField(merged, field);
  // The rules compare fields, so that they need a scenario of the right shape.
  const scenario = fields as unknown as Scenario;
  if (shapeCheck.problems.length === 0) {
    // Problems of the text stop no rule: only those of rules do.
    const ruleProblems: FieldProblem[] = [];
    const input = ruleInputOf(scenario, {
      addProblem: addingTo(ruleProblems),
      spelling,
      fieldToFix: (...candidates) => fieldWrittenLast(merged, candidates),
    });
    for (const rules of rulesInStages) {
      for (const rule of rules) rule(input);
      if (ruleProblems.length > 0) break;
    }
    for (const rule of independentRules) rule(input);
    problems.push(...ruleProblems);
  }

  if (problems.length > 0) throw new ScenarioError(problemsInOrder(problems, merged, file));
  return { scenario, placeOf: (field) => placeOfField(merged, field), spelling };
}

/** Removes members, each by its field path. */
function removeMembers(fields: Members, members: Iterable<FieldPath>): void {
  for (const member of members) {
    const mapping = valueAt(fields, member.slice(0, -1)) as Record<string, unknown>; // the check found the member in it
    delete mapping[String(member.at(-1))];
  }
}
