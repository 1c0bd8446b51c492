import { maximumProblems, shapeProblems } from "../rules/schema/check.js";
import type { Members } from "../rules/schema/problem.js";
import { type FieldPath, isMapping, pathText } from "../rules/schema/shape.js";
import { nearest } from "../rules/schema/words.js";
import { endpointRules, longestSpelling } from "./checks/endpoint-rules.js";
import { type Facts, factsOf, refRules, wrongInto } from "./checks/facts.js";
import { faultsFit } from "./checks/fault-rules.js";
import { keyRules } from "./checks/key-rules.js";
import { stepRules } from "./checks/step-rules.js";
import { type ExtendsOptions, resolveExtends } from "./extends.js";
import { scenarioSchema } from "./format/schema.js";
import { type FieldProblem, ScenarioError, type ScenarioProblem, type SourcePlace } from "./problems.js";
import type { Scenario } from "./scenario.generated.js";
import { type PlaceOf, placeIn, type ReadScenario, type ScenarioText } from "./scenario-text.js";

export interface CheckedScenario {
  readonly scenario: Scenario;
  readonly placeOf: PlaceOf;
}

/** Checks the shape of a scenario's fields, then the fields against each other. Throws a `ScenarioError`. */
export function interpretScenario({ read, file }: ScenarioText, options: ExtendsOptions): CheckedScenario {
  const problems: FieldProblem[] = [];
  const addProblem = (problem: FieldProblem) => {
    if (problems.length < maximumProblems) problems.push(problem);
  };
  const written = read(addProblem);
  const whole = written && resolveExtends(written, file, options, addProblem);
  if (written === undefined || whole === undefined)
    throw new ScenarioError(problemsOf(problems, written, file));
  const extensions: [members: Record<string, unknown>, name: string][] = [];
  // A member such as `x-limits` is a place for anchors.
  const isExtension = (name: string, members: Record<string, unknown>) => {
    if (!name.startsWith("x-")) return false;
    extensions.push([members, name]);
    return true;
  };
  const spelling = (path: FieldPath) => {
    const { depth, scalar } = whole.find(path, "value");
    return depth < path.length ? undefined : scalar?.slice(0, longestSpelling);
  };
  const layerOf = (path: FieldPath) => {
    const { depth, layer } = whole.find(path, "value");
    return depth < path.length ? Number.POSITIVE_INFINITY : layer;
  };
  const latest: Facts["latest"] = (...paths) =>
    paths.reduce((one, other) => (layerOf(other) < layerOf(one) ? other : one));
  const misshapen = shapeProblems(scenarioSchema, whole.fields, isExtension, spelling).map((problem) =>
    withInheritedName(problem, written.fields, whole.fields),
  );
  for (const [members, name] of extensions) delete members[name];
  problems.push(...misshapen);
  const scenario = whole.fields as unknown as Scenario; // the rules see it only if it has its shape
  if (misshapen.length === 0) {
    const facts = factsOf(scenario, { spelling, latest, wrong: wrongInto(problems) });
    for (const rule of rules) rule(facts);
  }
  if (problems.length === 0) return { scenario, placeOf: (field) => placeIn(whole, field) };
  throw new ScenarioError(problemsOf(problems, whole, file));
}

/** More names would take long to compare. */
const maxCompared = 300;

/** Below `extends`, what lacks a field has probably a misspelled name: the hint names the inherited one that is meant. */
function withInheritedName(problem: FieldProblem, written: Members, whole: Members): FieldProblem {
  const { code, field, hint } = problem;
  const name = String(field.at(-2));
  const around = field.slice(0, -2);
  const [writtenNames, names] = [written, whole].map((fields) => namesAt(fields, around));
  if (code !== "missing_field" || !writtenNames?.includes(name)) return problem;
  const inherited = (names ?? []).filter((one) => !writtenNames.includes(one));
  const meant = inherited.length > maxCompared ? undefined : nearest(name, inherited);
  return meant === undefined ? problem : { ...problem, hint: `did you mean ${meant}? if not, ${hint}` };
}

function namesAt(fields: unknown, path: FieldPath): string[] {
  const value = path.reduce((part, step) => (isMapping(part) ? part[step] : undefined), fields);
  return isMapping(value) ? Object.keys(value) : [];
}

/** The first problem of each field, sorted by place: first in the scenario's own text, then in the extended ones. */
function problemsOf(
  problems: readonly FieldProblem[],
  read: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const source = read?.find([], "value").place?.source;
  const order = (place: SourcePlace | undefined) => {
    const isExtended = source !== undefined && place?.source !== source;
    return place === undefined ? 0 : place.offset + (isExtended ? source.text.length + 1 : 0);
  };
  const ids = new Set<string>();
  return problems
    .map((problem) => {
      const { field, pointAt } = problem;
      const { place, depth } = read?.find(field, pointAt ?? "value") ?? {};
      // Many fields may share a field of an anchor.
      const name = depth === field.length ? field.at(-1) : field;
      return { ...problem, place: problem.place ?? place, name };
    })
    .filter(({ name, place }) => {
      const id = JSON.stringify([name, place?.offset, place?.source.file]);
      if (ids.has(id)) return false;
      ids.add(id);
      return true;
    })
    .sort((one, other) => order(one.place) - order(other.place))
    .slice(0, maximumProblems)
    .map(({ code, field, message, hint, place }) => ({
      code,
      field: pathText(field),
      message,
      ...(hint !== undefined && { hint }),
      ...(place === undefined ? file !== undefined && { file } : place.describe()),
    }));
}

const rules = [...refRules, ...keyRules, ...endpointRules, faultsFit, ...stepRules];
