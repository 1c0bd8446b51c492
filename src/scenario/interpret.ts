import { maximumProblems, shapeProblems } from "../rules/schema/check.js";
import type { Members, Spelling } from "../rules/schema/problem.js";
import { type FieldPath, isMapping } from "../rules/schema/shape.js";
import { nearest } from "../rules/schema/words.js";
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
} from "./problems.js";
import type { Scenario } from "./scenario.generated.js";
import { placeIn, type ReadScenario, type WrittenScenario } from "./written-scenario.js";

export interface CheckedScenario extends ScenarioPlaces {
  readonly scenario: Scenario;
}

const rules = [...refRules, ...keyRules, ...endpointRules, faultsFit, ...stepRules];

/** Merges a scenario with the one that it extends, checks its shape, then its fields against each other. Throws a `ScenarioError`. */
export function interpretScenario(written: WrittenScenario, extendable: Extendable): CheckedScenario {
  const { scenario: alone, file } = written;
  const problems = [...written.problems];
  const addProblem = addingTo(problems);
  const merged = resolveExtends(written, extendable, addProblem);
  if (alone === undefined || merged === undefined)
    throw new ScenarioError(problemsInOrder(problems, alone, file));
  const spelling = spellingIn(merged);
  const misshapen = problemsOfShape(merged, alone, spelling);
  misshapen.forEach(addProblem);
  const scenario = merged.fields as unknown as Scenario; // the rules see it only if it has its shape
  if (misshapen.length === 0) {
    const facts = factsOf(scenario, {
      spelling,
      latest: latestIn(merged),
      addProblem,
    });
    for (const rule of rules) rule(facts);
  }
  if (problems.length > 0) throw new ScenarioError(problemsInOrder(problems, merged, file));
  return { scenario, placeOf: (field) => placeIn(merged, field), spelling };
}

/** Checks the shape, and removes the members for anchors, such as `x-limits`. */
function problemsOfShape(merged: ReadScenario, alone: ReadScenario, spelling: Spelling): FieldProblem[] {
  const forAnchors: [members: Record<string, unknown>, name: string][] = [];
  const isForAnchors = (name: string, members: Record<string, unknown>) => {
    if (!name.startsWith("x-")) return false;
    forAnchors.push([members, name]);
    return true;
  };
  const problems = shapeProblems(scenarioSchema, merged.fields, isForAnchors, spelling);
  for (const [members, name] of forAnchors) delete members[name];
  return problems.map((problem) => withInheritedName(problem, alone.fields, merged.fields));
}

/** More names would take long to compare. */
const maxCompared = 300;

/** Below `extends`, what lacks a field has probably a misspelled name: the hint names the inherited one that is meant. */
function withInheritedName(problem: FieldProblem, alone: Members, merged: Members): FieldProblem {
  const { code, field, hint } = problem;
  const name = String(field.at(-2));
  const around = field.slice(0, -2);
  const names = namesAt(alone, around);
  if (code !== "missing_field" || !names.includes(name)) return problem;
  const inherited = namesAt(merged, around).filter((one) => !names.includes(one));
  const meant = inherited.length > maxCompared ? undefined : nearest(name, inherited);
  return meant === undefined ? problem : { ...problem, hint: `did you mean ${meant}? if not, ${hint}` };
}

function namesAt(fields: Members, path: FieldPath): string[] {
  const value = path.reduce<unknown>((part, step) => (isMapping(part) ? part[step] : undefined), fields);
  return isMapping(value) ? Object.keys(value) : [];
}

function spellingIn({ find }: ReadScenario): Spelling {
  return (path) => {
    const { depth, scalar } = find(path, "value");
    return depth < path.length ? undefined : scalar?.slice(0, longestSpelling);
  };
}

function latestIn({ find }: ReadScenario): Facts["latest"] {
  const layerOf = (path: FieldPath) => {
    const { depth, layer } = find(path, "value");
    return depth < path.length ? Number.POSITIVE_INFINITY : layer;
  };
  return (...paths) => paths.reduce((one, other) => (layerOf(other) < layerOf(one) ? other : one));
}

/** The first problem of each field, sorted by place: first in the scenario's own text, then in the extended ones. */
function problemsInOrder(
  problems: readonly FieldProblem[],
  scenario: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const { source } = scenario?.find([], "value").place ?? {};
  const order = (place: SourcePlace | undefined) => {
    const isExtended = source !== undefined && place?.source !== source;
    return place === undefined ? 0 : place.offset + (isExtended ? source.text.length + 1 : 0);
  };
  const ids = new Set<string>();
  const isFirst = (id: string) => {
    const isNew = !ids.has(id);
    ids.add(id);
    return isNew;
  };
  return problems
    .map((problem) => {
      const { field, pointAt = "value" } = problem;
      const { place, depth } = scenario?.find(field, pointAt) ?? {};
      // Many fields may share a field of an anchor.
      const name = depth === field.length ? field.at(-1) : field;
      return { ...problem, name, place: problem.place ?? place };
    })
    .filter(({ name, place }) => isFirst(JSON.stringify([name, place?.offset, place?.source.file])))
    .sort((one, other) => order(one.place) - order(other.place))
    .slice(0, maximumProblems)
    .map(({ place, ...problem }) => problemAt(problem, place?.describe(), file));
}
