import { checkShape, maximumProblems } from "../schema/check.js";
import type { Members, Spelling } from "../schema/problem.js";
import { type FieldPath, isMapping, valueAt } from "../schema/shape.js";
import { nearest } from "../schema/words.js";
import { endpointRules, longestSpelling } from "./checks/endpoint-rules.js";
import { type Facts, factsOf } from "./checks/facts.js";
import { faultsFit } from "./checks/fault-rules.js";
import { keyRules } from "./checks/key-rules.js";
import { refRules } from "./checks/ref-rules.js";
import { stepRules } from "./checks/step-rules.js";
import { type Extendable, resolveExtends } from "./extends.js";
import { scenarioSchema } from "./format/schema.js";
import {
  addingTo,
  type FieldProblem,
  problemAt,
  ScenarioError,
  type ScenarioPlaces,
  type ScenarioProblem,
  type SourcePlace,
  type SourceText,
} from "./problems.js";
import { withRefsOfNames } from "./refs-by-name.js";
import type { Scenario } from "./scenario.generated.js";
import { placeOfField, type ReadScenario, type WrittenScenario } from "./written-scenario.js";

export interface CheckedScenario extends ScenarioPlaces {
  readonly scenario: Scenario;
}

const rules = [...refRules, ...keyRules, ...endpointRules, faultsFit, ...stepRules];

/** Whether a member that its mapping does not have exists only for its anchors, such as `x-limits`. */
function isForAnchors(name: string): boolean {
  return name.startsWith("x-");
}

/** Merges a scenario with the one that it extends, checks its shape, then its fields against each other. Throws a `ScenarioError`. */
export function interpretScenario(written: WrittenScenario, extendable: Extendable): CheckedScenario {
  const { file } = written;
  const ownScenario = written.scenario;
  const problems: FieldProblem[] = [];
  const addProblem = addingTo(problems);
  for (const problem of written.problems) addProblem(problem);
  const result = resolveExtends(written, extendable);
  for (const problem of result.problems) addProblem(problem);
  if (ownScenario === undefined || result.kind === "not_merged") {
    throw new ScenarioError(problemsInOrder(problems, ownScenario, file));
  }

  const merged = result.scenario;
  const spelling = spellingIn(merged);
  const { problems: misshapen, extras } = checkShape(scenarioSchema, merged.fields, written.notation, {
    isExtra: isForAnchors,
    spelling,
  });
  removeMembers(merged.fields, extras);
  for (const problem of withRefsOfNames(misshapen, merged.fields)) {
    addProblem(withInheritedName(problem, ownScenario.fields, merged.fields));
  }

  // The rules compare fields, so that they need a scenario of the right shape.
  const scenario = merged.fields as unknown as Scenario;
  if (misshapen.length === 0) {
    const facts = factsOf(scenario, { spelling, fieldToFix: fieldToFixIn(merged), addProblem });
    for (const rule of rules) rule(facts);
  }

  if (problems.length > 0) throw new ScenarioError(problemsInOrder(problems, merged, file));
  return { scenario, placeOf: (field) => placeOfField(merged, field), spelling };
}

/** Removes members, each by its path. */
function removeMembers(fields: Members, members: Iterable<FieldPath>): void {
  for (const path of members) {
    const mapping = valueAt(fields, path.slice(0, -1)) as Record<string, unknown>; // the check found the member in it
    delete mapping[String(path.at(-1))];
  }
}

/** More names would take long to compare. */
const maxCompared = 300;

/**
 * Below `extends`, the name of a mapping may be a misspelled name of an inherited mapping, such as `mian` of `main`. It is then
 * a new mapping, which lacks the fields that `main` has: the hint of such a problem first asks for the inherited name.
 */
function withInheritedName(problem: FieldProblem, own: Members, merged: Members): FieldProblem {
  const { code, field, hint } = problem;
  if (code !== "missing_field") return problem;
  const name = String(field.at(-2));
  const pathAround = field.slice(0, -2);
  const ownNames = namesAt(own, pathAround);
  if (!ownNames.includes(name)) return problem;

  const inheritedNames = namesAt(merged, pathAround).filter((other) => !ownNames.includes(other));
  if (inheritedNames.length > maxCompared) return problem;
  const meant = nearest(name, inheritedNames);
  if (meant === undefined) return problem;
  return { ...problem, hint: `did you mean ${meant}? if not, ${hint}` };
}

/** The names in the mapping at a path; none if no mapping is there. */
function namesAt(fields: Members, path: FieldPath): string[] {
  const part = valueAt(fields, path);
  return isMapping(part) ? Object.keys(part) : [];
}

/** Finds how the text has a value that is no text: `007`. A longer one is cut. */
function spellingIn(merged: ReadScenario): Spelling {
  return (path) => {
    const { isExact, spelling } = merged.locate(path, "value");
    return isExact ? spelling?.slice(0, longestSpelling) : undefined;
  };
}

/** Chooses, of several fields, the one that is in the innermost layer; of several in one layer, the first. */
function fieldToFixIn(merged: ReadScenario): Facts["fieldToFix"] {
  const layerOf = (path: FieldPath) => {
    const { isExact, layer } = merged.locate(path, "value");
    return isExact ? layer : Number.POSITIVE_INFINITY;
  };

  return (...paths) => {
    let [innermost] = paths;
    for (const path of paths) {
      if (layerOf(path) < layerOf(innermost)) innermost = path;
    }
    return innermost;
  };
}

interface PlacedProblem {
  readonly problem: FieldProblem;
  readonly place: SourcePlace | undefined;
  /** Where its place is in the order of all problems. */
  readonly position: number;
}

/** The problems as they are shown, sorted by place: first those in the scenario's own text, then those in the extended ones. */
function problemsInOrder(
  problems: readonly FieldProblem[],
  scenario: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const ownSource = scenario?.locate([], "value").place?.source;
  const placed: PlacedProblem[] = [];
  // Of several problems of one field at one place, only the first is shown.
  const shownIds = new Set<string>();
  for (const problem of problems) {
    const location = scenario?.locate(problem.field, problem.pointAt ?? "value");
    const place = problem.place ?? location?.place;
    const isInText = location?.isExact === true;
    const id = JSON.stringify([nameOfField(problem.field, isInText), place?.offset, place?.source.file]);
    if (shownIds.has(id)) continue;
    shownIds.add(id);
    placed.push({ problem, place, position: positionOf(place, ownSource) });
  }

  placed.sort((one, other) => one.position - other.position);
  const firstProblems = placed.slice(0, maximumProblems);
  return firstProblems.map(({ problem, place }) => problemAt(problem, place?.describe(), file));
}

/**
 * What tells a field from the others at its place. Where aliases repeat a mapping, its fields have many paths and one place, so
 * that only their last names differ. Fields that the text lacks are all at the place around them, so that their paths differ.
 */
function nameOfField(field: FieldPath, isInText: boolean): unknown {
  return isInText ? field.at(-1) : field;
}

/** A place in the scenario's own text is before any in another one. */
function positionOf(place: SourcePlace | undefined, ownSource: SourceText | undefined): number {
  if (place === undefined) return 0;
  if (ownSource === undefined || place.source === ownSource) return place.offset;
  return ownSource.text.length + 1 + place.offset;
}
