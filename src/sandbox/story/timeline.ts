import { parseWhen } from "../../scenario/format/time.js";
import { isoOf } from "../clock.js";
import type { TimelineStep } from "./story.js";

/** The steps of a world's timeline, and how far it has run. */
export interface Timeline {
  readonly steps: readonly { readonly at: number; readonly step: TimelineStep }[];
  /** The index of the next step. */
  next: number;
  /** When the next step happens (epoch milliseconds); `Infinity` when none is left. */
  dueAt: number;
}

/** The timeline of a scenario whose clock starts at `start` (epoch milliseconds). */
export function createTimeline(steps: readonly TimelineStep[], start: number): Timeline {
  const timed = steps.map((step) => ({ step, at: parseWhen(step.at, start) ?? start }));
  return { steps: timed, next: 0, dueAt: timed[0]?.at ?? Number.POSITIVE_INFINITY };
}

/** The steps that are still to come, each with its instant, so that they mean the same to a later start. */
export function remainingSteps({ steps, next }: Timeline): TimelineStep[] {
  return steps.slice(next).map(({ step, at }) => ({ ...step, at: isoOf(at) }));
}
