import { checkShape } from "../schema/check.js";
import type { FieldPath } from "../schema/field-path.js";
import type { Members } from "../schema/problem.js";
import { isMapping } from "../schema/type-tag.js";
import { nearest } from "../schema/words.js";
import { checkRules } from "./checks/scenario-rules.js";
import { type ParentLookup, resolveExtends, valueAt } from "./extends.js";
import { scenarioSchema } from "./format/schema.js";
import { ScenarioError, type ScenarioPlaces } from "./problems.js";
import type { Scenario } from "./scenario.generated.js";
import { longestSpelling, placeOfField, problemsInOrder, type WrittenScenario } from "./written-scenario.js";

export interface CheckedScenario extends ScenarioPlaces {
  readonly scenario: Scenario;
}

/** Merges a scenario with the one that it extends, checks its shape, then its fields against each other. Throws a `ScenarioError`. */
export function interpretScenario(written: WrittenScenario, parents: ParentLookup): CheckedScenario {
  const merged = resolveExtends(written, parents);
  const { fields, notation } = merged;
  const problems = [...merged.problems];
  if (fields === undefined) throw new ScenarioError(problemsInOrder(problems, merged));

  // A member such as `x-limits` exists only for its anchors.
  const isForAnchors = (name: string) => name.startsWith("x-");
  const shapeCheck = checkShape(scenarioSchema, fields, notation, isForAnchors);
  for (const path of shapeCheck.extensionFields) {
    const mapping = valueAt(fields, path.slice(0, -1)) as Record<string, unknown>; // the check found the member in it
    delete mapping[String(path.at(-1))];
  }
  for (const problem of shapeCheck.problems) {
    const meant = problem.code === "missing_field" ? meantRef(problem.field, fields, written) : undefined;
    problems.push(meant === undefined ? problem : { ...problem, hint: `did you mean ${meant}?` });
  }

  const spelling = (field: FieldPath) => merged.locate(field, "value").spelling?.slice(0, longestSpelling);
  const scenario = fields as unknown as Scenario; // if there is no problem of its shape
  if (shapeCheck.problems.length === 0) problems.push(...checkRules(scenario, spelling));

  if (problems.length > 0) throw new ScenarioError(problemsInOrder(problems, merged));
  return { scenario, placeOf: (field) => placeOfField(merged, field), spelling };
}

/** The inherited ref that a ref without this required field probably means: `active` for `acive`, below `extends`. */
function meantRef(missing: FieldPath, merged: Members, { fields: own }: WrittenScenario): string | undefined {
  const pathOfRefs = missing.slice(0, -2);
  const refs = valueAt(merged, pathOfRefs);
  if (own?.extends === undefined || !isMapping(refs)) return undefined;
  const inherited = Object.keys(refs).filter((ref) => valueAt(own, [...pathOfRefs, ref]) === undefined);
  return nearest(String(missing.at(-2)), inherited);
}
