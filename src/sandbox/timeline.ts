import type { RejectionCode } from "../rules/errors.js";
import { timeFrom } from "../scenario/format/fields.js";
import { isoOf } from "./clock.js";
import type { TimelineStep } from "./steps.js";

export interface Timeline {
  readonly steps: readonly { readonly at: number; readonly step: TimelineStep }[];
  next: number;
  readonly rejections: Map<number, RejectionCode>;
  /** When the next step or rule of a record is due; `Infinity` if none is left. */
  dueAt: number;
}

export function createTimeline(steps: readonly TimelineStep[], start: number, rulesAt: number): Timeline {
  const timed = steps.map((step) => ({ step, at: timeFrom(start, step.at) }));
  const first = timed[0]?.at ?? Number.POSITIVE_INFINITY;
  const dueAt = Math.min(first, rulesAt);
  return { steps: timed, next: 0, rejections: new Map(), dueAt };
}

/** Returns the steps that have not run, with absolute times, so that a later start does not shift them. */
export function remainingSteps({ steps, next }: Timeline): TimelineStep[] {
  return steps.slice(next).map(({ step, at }) => ({ ...step, at: isoOf(at) }));
}
