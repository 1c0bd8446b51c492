import { checkShape } from "../schema/check.js";
import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { checkRules } from "./checks/check-rules.js";
import { type ParentLookup, resolveExtends } from "./extends.js";
import { scenarioSchema } from "./format/schema.js";
import type { FieldProblem, ScenarioPlaces } from "./problems.js";
import { problemsInOrder } from "./problems-in-order.js";
import type { Scenario } from "./scenario.generated.js";
import { ScenarioError } from "./scenario-error.js";
import { valueAt } from "./value-at.js";
import { placeOfField, spellingOfField, type WrittenScenario } from "./written-scenario.js";

export interface CheckedScenario extends ScenarioPlaces {
  readonly scenario: Scenario;
}

/** Whether a member that its mapping does not have exists only for its anchors, such as `x-limits`. */
function isForAnchors(name: string): boolean {
  return name.startsWith("x-");
}

/** Merges a scenario with the one that it extends, checks its shape, then its fields against each other. Throws a `ScenarioError`. */
export function interpretScenario(written: WrittenScenario, parents: ParentLookup): CheckedScenario {
  const { file, notation } = written;
  const mergeResult = resolveExtends(written, parents);
  const problems: FieldProblem[] = [...written.problems, ...mergeResult.problems];
  if (mergeResult.kind === "not_merged") {
    throw new ScenarioError(problemsInOrder(problems, written.scenario, file));
  }

  const merged = mergeResult.scenario;
  const { fields } = merged;
  const shapeCheck = checkShape(scenarioSchema, fields, notation, isForAnchors);
  removeMembers(fields, shapeCheck.extensionFields);
  problems.push(...shapeCheck.problems);

  const spelling = (field: FieldPath) => spellingOfField(merged, field);
  const scenario = fields as unknown as Scenario; // if there is no problem of its shape
  if (shapeCheck.problems.length === 0) problems.push(...checkRules(scenario, spelling));

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
