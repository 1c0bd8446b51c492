import type { FieldPath } from "../schema/field-path.js";
import { maximumProblems } from "../schema/problem.js";
import { type FieldProblem, problemAt, type ScenarioProblem } from "./problems.js";
import type { SourcePlace, SourceText } from "./source-text.js";
import { type FieldLocation, hasOwnPlace, type ReadScenario } from "./written-scenario.js";

interface PlacedProblem {
  readonly problem: FieldProblem;
  readonly place: SourcePlace | undefined;
}

/** The problems as they are shown: those without a place, then those of the scenario's own text, then those of each extended one. */
export function problemsInOrder(
  problems: readonly FieldProblem[],
  scenario: ReadScenario | undefined,
  file: string | undefined,
): ScenarioProblem[] {
  const placed = firstOfEachField(problems, scenario);
  const texts = textsInOrder(placed, scenario);
  placed.sort((one, other) => compareByPlace(one, other, texts));
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

    const id = JSON.stringify([nameAtPlace(field, location), place?.offset, place?.source.file]);
    if (seenIds.has(id)) continue;
    seenIds.add(id);
    placed.push({ problem, place });
  }
  return placed;
}

/** What tells a field from the others at its place. */
function nameAtPlace(
  field: FieldPath,
  location: FieldLocation | undefined,
): FieldPath | string | number | undefined {
  // Aliases repeat a mapping, so that one field of the text has several paths. All of them end in its name.
  const isInText = location !== undefined && hasOwnPlace(location, field);
  if (isInText) return field.at(-1);
  // Fields that the text lacks have the place of the mapping around them: their paths differ.
  return field;
}

/** The texts of the scenario, and those that have problems and could not be merged with it. */
function textsInOrder(problems: readonly PlacedProblem[], scenario: ReadScenario | undefined): SourceText[] {
  const texts = new Set(scenario?.texts);
  for (const { place } of problems) {
    if (place !== undefined) texts.add(place.source);
  }
  return [...texts];
}

function compareByPlace(one: PlacedProblem, other: PlacedProblem, texts: readonly SourceText[]): number {
  if (one.place === undefined || other.place === undefined) {
    return Number(one.place !== undefined) - Number(other.place !== undefined);
  }
  const { source, offset } = one.place;
  if (source === other.place.source) return offset - other.place.offset;
  return texts.indexOf(source) - texts.indexOf(other.place.source);
}
