import { type FieldDifference, fieldDifferences, type PlayedStep } from "../../sandbox/steps.js";
import type { Place, ScenarioPlaces } from "../../scenario/problems.js";

export interface PlacedDifference extends FieldDifference {
  /** Whether the step could not run, or ran and had another result than its scenario expects. */
  readonly kind: "cannot_run" | "unexpected_result";
  /** `undefined` if no text has the field. */
  readonly place: Place | undefined;
}

/** Adds to the differences of a step where they are in its file. */
export function placeDifferences(result: PlayedStep, { placeOf }: ScenarioPlaces): PlacedDifference[] {
  return fieldDifferences(result).map((difference) => ({
    ...difference,
    kind: difference.at === null ? "cannot_run" : "unexpected_result",
    place: placeOf(difference.field),
  }));
}
