import { checkShape } from "../schema/check.js";
import { type FieldPath, valueAt } from "../schema/field-path.js";
import type { Members, SourceTextAt } from "../schema/problem.js";
import { maximumProblems } from "../schema/problem.js";
import { isMapping } from "../schema/type-tag.js";
import { nearest } from "../schema/words.js";
import { endpointRules, longestSpelling } from "./checks/endpoint-rules.js";
import { type Facts, factsOf } from "./checks/facts.js";
import { faultsFit } from "./checks/fault-rules.js";
import { keyCountRules } from "./checks/key-count-rules.js";
import { keyRules } from "./checks/key-rules.js";
import { refRules } from "./checks/ref-rules.js";
import { replacementRules } from "./checks/replacement-rules.js";
import { secretsFit } from "./checks/secret-rules.js";
import { stepRules } from "./checks/step-rules.js";
import { type Extendable, resolveExtends } from "./extends.js";
import { scenarioSchema } from "./format/schema.js";
import {
  addingTo,
  type FieldProblem,
  problemAt,
  type ScenarioPlaces,
  type ScenarioProblem,
} from "./problems.js";
import { withRefsOfNames } from "./refs-by-name.js";
import type { Scenario } from "./scenario.generated.js";
import { ScenarioError } from "./scenario-error.js";
import type { SourcePlace, SourceText } from "./source-text.js";
import { placeOfField, type ReadScenario, type WrittenScenario } from "./written-scenario.js";

export interface CheckedScenario extends ScenarioPlaces {
  readonly scenario: Scenario;
}

const rules = [
  ...refRules,
  ...keyRules,
  ...keyCountRules,
  secretsFit,
  ...replacementRules,
  ...endpointRules,
  faultsFit,
  ...stepRules,
];

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
  const { problems: misshapen, extensionFields } = checkShape(
    scenarioSchema,
    merged.fields,
    written.notation,
    {
      isExtension: isForAnchors,
      sourceTextAt: spelling,
    },
  );
  removeMembers(merged.fields, extensionFields);
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

/** Removes members, each by its field path. */
function removeMembers(fields: Members, members: Iterable<FieldPath>): void {
  for (const member of members) {
    const mapping = valueAt(fields, member.slice(0, -1)) as Record<string, unknown>; // the check found the member in it
    delete mapping[String(member.at(-1))];
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
  // `main` in `organizations.bank.keys.main.environment`, and the names next to it.
  const name = String(field.at(-2));
  const fieldAround = field.slice(0, -2);
  const ownNames = namesAt(own, fieldAround);
  if (!ownNames.includes(name)) return problem;

  const inheritedNames = namesAt(merged, fieldAround).filter((other) => !ownNames.includes(other));
  if (inheritedNames.length > maxCompared) return problem;
  const meant = nearest(name, inheritedNames);
  if (meant === undefined) return problem;
  return { ...problem, hint: `did you mean ${meant}? if not, ${hint}` };
}

/** The names in the mapping of a field; none if the field has no mapping. */
function namesAt(fields: Members, field: FieldPath): string[] {
  const part = valueAt(fields, field);
  return isMapping(part) ? Object.keys(part) : [];
}

/** Finds how the text has a value that is no mapping and no list: `007`. Of a long one, only the start. */
function spellingIn(merged: ReadScenario): SourceTextAt {
  return (field) => {
    const { isExact, spelling } = merged.locate(field, "value");
    return isExact ? spelling?.slice(0, longestSpelling) : undefined;
  };
}

/** Chooses, of several fields, the one that is in the innermost layer; of several in one layer, the first. */
function fieldToFixIn(merged: ReadScenario): Facts["fieldToFix"] {
  const layerOf = (field: FieldPath) => {
    const { isExact, layer } = merged.locate(field, "value");
    return isExact ? layer : Number.POSITIVE_INFINITY;
  };

  return (...fields) => {
    let [innermost] = fields;
    for (const field of fields) {
      if (layerOf(field) < layerOf(innermost)) innermost = field;
    }
    return innermost;
  };
}

interface PlacedProblem {
  readonly problem: FieldProblem;
  readonly place: SourcePlace | undefined;
}

/** The problems as they are shown, sorted by place: first those in the scenario's own text, then those in the extended ones. */
function problemsInOrder(
  problems: readonly FieldProblem[],
  scenario: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const placed = firstOfEachField(problems, scenario);
  const ownSource = scenario?.locate([], "value").place?.source;
  placed.sort((one, other) => positionOf(one.place, ownSource) - positionOf(other.place, ownSource));
  const firstProblems = placed.slice(0, maximumProblems);
  return firstProblems.map(({ problem, place }) => problemAt(problem, place?.describe(), file));
}

/** The problems with their places; of several problems of one field at one place, only the first. */
function firstOfEachField(
  problems: readonly FieldProblem[],
  scenario: ReadScenario | undefined,
): PlacedProblem[] {
  const placed: PlacedProblem[] = [];
  const seenIds = new Set<string>();
  for (const problem of problems) {
    const { field, pointAt = "value" } = problem;
    const location = scenario?.locate(field, pointAt);
    const place = problem.place ?? location?.place;
    // Where aliases repeat a mapping, one field of the text has many paths: it is known by its last name and its place. A
    // field that the text lacks has the place of the mapping around it, as others may: it is known by its whole path.
    const name = location?.isExact ? field.at(-1) : field;
    const id = JSON.stringify([name, place?.offset, place?.source.file]);
    if (seenIds.has(id)) continue;
    seenIds.add(id);
    placed.push({ problem, place });
  }
  return placed;
}

/** Where a place is in the order of all problems: a place in the scenario's own text is before any in another one. */
function positionOf(place: SourcePlace | undefined, ownSource: SourceText | undefined): number {
  if (place === undefined) return 0;
  if (ownSource === undefined || place.source === ownSource) return place.offset;
  return ownSource.text.length + 1 + place.offset;
}
