import type { PlayedStep, StepDifference } from "../../sandbox/steps.js";
import { type FieldPath, pathText } from "../../schema/field-path.js";

/** A difference of a step with the field of the scenario that expects something else. */
export interface FieldDifference {
  /** For people: `status`, `body.data.usage.today`, `timeline[3].error`, …; `null` if the step could not run. */
  readonly at: string | null;
  readonly expected: string | null;
  readonly found: string | null;
  readonly message: string;
  /** In the scenario: `["story", 0, "expect", "status"]`; of a step that could not run, the step itself. */
  readonly field: FieldPath;
}

/** The differences of a step, then those of the timeline steps that ran during it. */
export function fieldDifferences({ number, failure, differences, timeline }: PlayedStep): FieldDifference[] {
  const storyStep = ["story", number - 1];
  const withFields: FieldDifference[] = [];
  if (failure !== null) {
    withFields.push({ at: null, expected: null, found: null, message: failure.message, field: storyStep });
  }
  for (const difference of differences) {
    withFields.push(fieldDifference(difference, pathText(difference.path), storyStep));
  }

  for (const { index, differences: ofTimeline } of timeline) {
    const timelineStep = ["timeline", index];
    for (const difference of ofTimeline) {
      const at = pathText([...timelineStep, ...difference.path]);
      withFields.push(fieldDifference(difference, at, timelineStep));
    }
  }
  return withFields;
}

function fieldDifference(difference: StepDifference, at: string, step: FieldPath): FieldDifference {
  const { path, expected, found } = difference;
  const message = `${at}: expected ${expected}, found ${found}`;
  return { at, expected, found, message, field: [...step, "expect", ...path] };
}
