import type { FieldPath } from "../schema/field-path.js";
import { maximumProblems } from "../schema/problem.js";
import { type FieldProblem, problemAt, type ScenarioProblem } from "./problems.js";
import type { SourcePlace, SourceText } from "./source-text.js";
import type { PlacedScenario } from "./written-scenario.js";

interface PlacedProblem {
  readonly problem: FieldProblem;
  readonly place: SourcePlace | undefined;
}

/** The problems as they are shown: those without a place, then those of the scenario's own text, then those of each extended one. */
export function problemsInOrder(
  problems: readonly FieldProblem[],
  scenario: PlacedScenario | undefined,
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
  scenario: PlacedScenario | undefined,
): PlacedProblem[] {
  const placed: PlacedProblem[] = [];
  const seenIds = new Set<string>();
  for (const problem of problems) {
    const { field, pointAt = "value" } = problem;
    const location = scenario?.locate(field, pointAt);
    const place = problem.place ?? location?.place;

    // A field in the text is known by its name and its place: aliases give it several paths. Here, `status` is also the field
    // `faults[1].then.status`:
    //
    //   faults:
    //     - then: &down { status: 900 }
    //     - then: *down
    //
    // Fields that are not in the text can share the place of the mapping around them: each is known by its path.
    const isInText = location?.match === "exact";
    const id = idOfField(isInText ? field.slice(-1) : field, place);
    if (seenIds.has(id)) continue;
    seenIds.add(id);
    placed.push({ problem, place });
  }
  return placed;
}

/** Tells apart the fields that have problems. */
function idOfField(field: FieldPath, place: SourcePlace | undefined): string {
  return JSON.stringify([field, place?.offset, place?.source.file]);
}

/** The texts of the scenario, and those that have problems and could not be merged with it. */
function textsInOrder(
  problems: readonly PlacedProblem[],
  scenario: PlacedScenario | undefined,
): SourceText[] {
  const texts = new Set(scenario?.texts);
  for (const { place } of problems) {
    if (place !== undefined) texts.add(place.source);
  }
  return [...texts];
}

/** Negative if one problem is shown before the other. */
function compareByPlace(one: PlacedProblem, other: PlacedProblem, texts: readonly SourceText[]): number {
  if (one.place === undefined) return other.place === undefined ? 0 : -1;
  if (other.place === undefined) return 1;
  if (one.place.source === other.place.source) return one.place.offset - other.place.offset;
  return texts.indexOf(one.place.source) - texts.indexOf(other.place.source);
}
