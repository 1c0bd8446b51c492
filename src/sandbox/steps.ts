import type { ActionName } from "../scenario/actions.js";
import type { Scenario } from "../scenario/scenario.generated.js";

/** A step that a presenter runs. */
export type StoryStep = NonNullable<Scenario["story"]>[number];

/** A step that runs when the clock reaches it. */
export type TimelineStep = NonNullable<Scenario["timeline"]>[number];

/** What a step does to its sandbox: one of its members, or none. */
export type StepAction = Pick<TimelineStep, ActionName>;

/** Role of the user on the owner's site (R33). */
export type Actor = "administrator" | "member";

/** Who runs an operation: by default, an administrator. */
export interface Initiator {
  readonly actor?: Actor | undefined;
  /** Whether the scenario runs it: secrets of new keys then derive from the seed and their refs. */
  readonly isScripted?: boolean;
  /** When the step of the timeline that runs it is due (epoch milliseconds). Default: not in a timeline. */
  readonly dueAt?: number | undefined;
}
