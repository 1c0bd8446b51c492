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
  type SourceText,
} from "./problems.js";
import type { Scenario } from "./scenario.generated.js";
import { placeIn, type ReadScenario, type WrittenScenario } from "./written-scenario.js";

export interface CheckedScenario extends ScenarioPlaces {
  readonly scenario: Scenario;
}

const rules = [...refRules, ...keyRules, ...endpointRules, faultsFit, ...stepRules];

/** Merges a scenario with the one that it extends, checks its shape, then its fields against each other. Throws a `ScenarioError`. */
export function interpretScenario(written: WrittenScenario, extendable: Extendable): CheckedScenario {
  const { file } = written;
  const alone = written.scenario;
  const problems = [...written.problems];
  const addProblem = addingTo(problems);
  const merged = resolveExtends(written, extendable, addProblem);
  if (alone === undefined || merged === undefined) {
    throw new ScenarioError(problemsInOrder(problems, alone, file));
  }

  const spelling = spellingIn(merged);
  const misshapen = problemsOfShape(merged, alone, spelling);
  for (const problem of misshapen) addProblem(problem);

  const scenario = merged.fields as unknown as Scenario; // the rules see it only if it has its shape
  if (misshapen.length === 0) {
    const facts = factsOf(scenario, { spelling, writtenLast: writtenLastIn(merged), addProblem });
    for (const rule of rules) rule(facts);
  }

  if (problems.length > 0) throw new ScenarioError(problemsInOrder(problems, merged, file));
  return { scenario, placeOf: (field) => placeIn(merged, field), spelling };
}

/** A member that exists only for its anchors, such as `x-limits`. */
interface AnchorMember {
  readonly mapping: Record<string, unknown>;
  readonly name: string;
}

/** Checks the shape, and removes the members for anchors. */
function problemsOfShape(merged: ReadScenario, alone: ReadScenario, spelling: Spelling): FieldProblem[] {
  // The check asks for each unknown member whether it is allowed: it finds those for anchors on its way.
  const anchorMembers: AnchorMember[] = [];
  const isForAnchors = (name: string, mapping: Record<string, unknown>) => {
    if (!name.startsWith("x-")) return false;
    anchorMembers.push({ mapping, name });
    return true;
  };
  const problems = shapeProblems(scenarioSchema, merged.fields, isForAnchors, spelling);
  for (const { mapping, name } of anchorMembers) delete mapping[name];

  return problems.map((problem) => withInheritedName(problem, alone.fields, merged.fields));
}

/** More names would take long to compare. */
const maxCompared = 300;

/** Below `extends`, what lacks a field has probably a misspelled name: the hint names the inherited one that is meant. */
function withInheritedName(problem: FieldProblem, alone: Members, merged: Members): FieldProblem {
  const { code, field, hint } = problem;
  if (code !== "missing_field") return problem;
  const name = String(field.at(-2));
  const around = field.slice(0, -2);
  const ownNames = namesAt(alone, around);
  if (!ownNames.includes(name)) return problem;

  const inherited = namesAt(merged, around).filter((other) => !ownNames.includes(other));
  if (inherited.length > maxCompared) return problem;
  const meant = nearest(name, inherited);
  if (meant === undefined) return problem;
  return { ...problem, hint: `did you mean ${meant}? if not, ${hint}` };
}

/** The names in the mapping at a path; none if no mapping is there. */
function namesAt(fields: Members, path: FieldPath): string[] {
  let part: unknown = fields;
  for (const step of path) {
    if (!isMapping(part)) return [];
    part = part[step];
  }
  return isMapping(part) ? Object.keys(part) : [];
}

function spellingIn(merged: ReadScenario): Spelling {
  return (path) => {
    const { depth, scalar } = merged.find(path, "value");
    if (depth < path.length) return undefined;
    return scalar?.slice(0, longestSpelling);
  };
}

function writtenLastIn(merged: ReadScenario): Facts["writtenLast"] {
  const layerOf = (path: FieldPath) => {
    const { depth, layer } = merged.find(path, "value");
    return depth < path.length ? Number.POSITIVE_INFINITY : layer;
  };

  return (...paths) => {
    let [last] = paths;
    for (const path of paths) {
      if (layerOf(path) < layerOf(last)) last = path;
    }
    return last;
  };
}

/** A problem with its place, and where that is in the order of all problems. */
interface PlacedProblem {
  readonly problem: FieldProblem;
  readonly place: SourcePlace | undefined;
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
    const found = scenario?.find(problem.field, problem.pointAt ?? "value");
    const place = problem.place ?? found?.place;
    const id = identityOf(problem, found?.depth, place);
    if (ids.has(id)) continue;
    ids.add(id);
    placed.push({ problem, place, position: positionOf(place, ownSource) });
  }

  placed.sort((one, other) => one.position - other.position);
  const shown = placed.slice(0, maximumProblems);
  return shown.map(({ problem, place }) => problemAt(problem, place?.describe(), file));
}

/** Equal for the problems of one field. The fields of an anchor are one field, no matter which alias repeats them. */
function identityOf(
  problem: FieldProblem,
  depth: number | undefined,
  place: SourcePlace | undefined,
): string {
  const { field } = problem;
  // The text has the field: then its name and its place identify it.
  const name = depth === field.length ? field.at(-1) : field;
  return JSON.stringify([name, place?.offset, place?.source.file]);
}

function positionOf(place: SourcePlace | undefined, ownSource: SourceText | undefined): number {
  if (place === undefined) return 0;
  if (ownSource === undefined || place.source === ownSource) return place.offset;
  return ownSource.text.length + 1 + place.offset;
}
