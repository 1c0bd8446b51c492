import type { ActionName } from "../scenario/actions.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** A step that a presenter runs. */
export type StoryStep = NonNullable<Scenario["story"]>[number];

/** A step that runs when the clock reaches it. */
export type TimelineStep = NonNullable<Scenario["timeline"]>[number];

/** What a step does to its sandbox: one of its members, or none. */
export type StepAction = Pick<TimelineStep, ActionName>;
