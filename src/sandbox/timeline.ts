import { isoTime } from "../rules/time.js";
import { timeFrom } from "../scenario/format/times.js";
import type { TimelineStep } from "./steps.js";

/** The timeline of a sandbox, and how far it is. */
export interface Timeline {
  /** Each step with the time when it is due (epoch milliseconds). */
  readonly steps: readonly { readonly at: number; readonly step: TimelineStep }[];
  /** The index of the next step; the number of steps at the end of the timeline. */
  next: number;
}

/**
 * A timeline of which no step has run. Its durations count from `start` (epoch milliseconds).
 *
 * Steps run in the order in which they are written: no step is due earlier than the step before it. An example with the steps
 * `2h` and `2030-01-01T00:30:00Z`, and a clock that starts on that day at 00:00: the first is due at 02:00. The second would be due
 * at 00:30, and is due at 02:00, too.
 */
export function createTimeline(written: readonly TimelineStep[], start: number): Timeline {
  const steps: { at: number; step: TimelineStep }[] = [];
  let dueBefore = Number.NEGATIVE_INFINITY;
  for (const step of written) {
    const at = Math.max(dueBefore, timeFrom(start, step.at));
    steps.push({ step, at });
    dueBefore = at;
  }
  return { steps, next: 0 };
}

/** Whether the next step is due at `now`. */
export function isStepDue({ steps, next }: Timeline, now: number): boolean {
  const step = steps[next];
  return step !== undefined && step.at <= now;
}

/** Takes the next step out of those that are left, with its index, if it is due at `now`. */
export function takeDueStep(
  timeline: Timeline,
  now: number,
): { readonly index: number; readonly at: number; readonly step: TimelineStep } | undefined {
  const index = timeline.next;
  const next = timeline.steps[index];
  if (next === undefined || next.at > now) return undefined;

  timeline.next = index + 1;
  return { index, at: next.at, step: next.step };
}

/** The steps that have not run, with absolute times, so that a later start does not shift them. */
export function remainingSteps({ steps, next }: Timeline): TimelineStep[] {
  return steps.slice(next).map(({ step, at }) => ({ ...step, at: isoTime(at) }));
}
