import type { PlayedStep } from "./step-results.js";
import type { StoryStep } from "./steps.js";

/** The story of a sandbox, and how far it is. */
export interface StoryProgress {
  readonly steps: readonly StoryStep[];
  /** The index of the next step; the number of steps at the end of the story. */
  next: number;
  /** Whether each step that has run was as expected, by its index. */
  readonly results: Map<number, boolean>;
  /** The result of the last step, without a secret; `undefined` before the first one. */
  last: PlayedStep | undefined;
  /** Whether a presenter's first step has frozen a running clock, which goes on after the last step. */
  resumesAtEnd: boolean;
}
