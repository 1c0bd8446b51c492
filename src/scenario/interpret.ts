import { findProblems, maximumProblems } from "../schema/check.js";
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
  const problems = [...written.problems];
  const addProblem = addingTo(problems);
  const merged = resolveExtends(written, extendable, addProblem);
  if (ownScenario === undefined || merged === undefined) {
    throw new ScenarioError(problemsInOrder(problems, ownScenario, file));
  }

  const spelling = spellingIn(merged);
  const { problems: misshapen, extras } = findProblems(scenarioSchema, merged.fields, written.notation, {
    isExtra: isForAnchors,
    spelling,
  });
  removeMembers(merged.fields, extras);
  for (const problem of withRefsOfNames(misshapen, merged.fields)) {
    addProblem(addInheritedName(problem, ownScenario.fields, merged.fields));
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
 * Below `extends`, a mapping that lacks a field has probably a misspelled name, so that it does not add to the inherited
 * one that is meant: the hint then asks for that name first.
 */
function addInheritedName(problem: FieldProblem, own: Members, merged: Members): FieldProblem {
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

/** How the text has each value that is no text: `007`. A longer one is cut. */
function spellingIn(merged: ReadScenario): Spelling {
  return (path) => {
    const { depth, scalar } = merged.find(path, "value");
    const isFound = depth === path.length;
    return isFound ? scalar?.slice(0, longestSpelling) : undefined;
  };
}

/** Chooses the field of the innermost layer; of several in one layer, the first. */
function fieldToFixIn(merged: ReadScenario): Facts["fieldToFix"] {
  const layerOf = (path: FieldPath) => {
    const { depth, layer } = merged.find(path, "value");
    const isFound = depth === path.length;
    return isFound ? layer : Number.POSITIVE_INFINITY;
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

/** The first problem of each field, sorted by place: first in the scenario's own text, then in the extended ones. */
function problemsInOrder(
  problems: readonly FieldProblem[],
  scenario: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const ownSource = scenario?.find([], "value").place?.source;
  const ids = new Set<string>();
  const placed: PlacedProblem[] = [];
  for (const problem of problems) {
    const position = scenario?.find(problem.field, problem.pointAt ?? "value");
    const place = problem.place ?? position?.place;
    const id = fieldIdentity(problem, position?.depth, place);
    if (ids.has(id)) continue;
    ids.add(id);
    placed.push({ problem, place, position: positionOf(place, ownSource) });
  }

  placed.sort((one, other) => one.position - other.position);
  const firstProblems = placed.slice(0, maximumProblems);
  return firstProblems.map(({ problem, place }) => problemAt(problem, place?.describe(), file));
}

/** The same for all problems of one field, and for a field below an anchor in each place where an alias repeats it. */
function fieldIdentity(
  problem: FieldProblem,
  depth: number | undefined,
  place: SourcePlace | undefined,
): string {
  const { field } = problem;
  const isFound = depth === field.length;
  // A field that the text has is identified by its place, where only its name may differ.
  const name = isFound ? field.at(-1) : field;
  return JSON.stringify([name, place?.offset, place?.source.file]);
}

/** A place in the scenario's own text is before any in another one. */
function positionOf(place: SourcePlace | undefined, ownSource: SourceText | undefined): number {
  if (place === undefined) return 0;
  if (ownSource === undefined || place.source === ownSource) return place.offset;
  return ownSource.text.length + 1 + place.offset;
}
