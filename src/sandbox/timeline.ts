import { isoTime, parseTime } from "../rules/time.js";
import { timeFrom } from "../scenario/format/when.js";
import type { FieldProblem } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { TimelineResult, TimelineStep } from "./step-results.js";

/** The timeline of a sandbox, and how far it is. */
export interface Timeline {
  /** Each with the time when it is due (epoch milliseconds). */
  readonly steps: readonly { readonly at: number; readonly step: TimelineStep }[];
  /** The index of the next step. */
  next: number;
  /** When the next step is due; `Infinity` if none is left. */
  dueAt: number;
  /** The results of the steps that were due when the sandbox started: nobody could listen to their events. */
  readonly ranAtStart: TimelineResult[];
}

/**
 * A timeline of which no step has run. Its durations count from `start` (epoch milliseconds).
 *
 * Steps run in the order in which they are written. A start that the scenario does not set may put a step after `2h` before it,
 * such as one at `2030-01-01T00:30:00Z` if the clock starts at midnight. It is then due together with the step before it.
 */
export function createTimeline(written: readonly TimelineStep[], start: number): Timeline {
  const steps: { readonly at: number; readonly step: TimelineStep }[] = [];
  let dueBefore = Number.NEGATIVE_INFINITY;
  for (const step of written) {
    const at = Math.max(dueBefore, timeFrom(start, step.at));
    steps.push({ step, at });
    dueBefore = at;
  }
  return timelineFrom(steps, 0);
}

/** A timeline of which the steps before `next` have run. */
export function timelineFrom(steps: Timeline["steps"], next: number): Timeline {
  return { steps, next, dueAt: dueTime(steps, next), ranAtStart: [] };
}

/** When the step with an index is due; `Infinity` if there is none. */
function dueTime(steps: Timeline["steps"], index: number): number {
  return steps[index]?.at ?? Number.POSITIVE_INFINITY;
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
  timeline.dueAt = dueTime(timeline.steps, timeline.next);
  return { index, at: next.at, step: next.step };
}

/** The steps that have not run, with absolute times, so that a later start does not shift them. */
export function remainingSteps({ steps, next }: Timeline): TimelineStep[] {
  return steps.slice(next).map(({ step, at }) => ({ ...step, at: isoTime(at) }));
}

/** The problem of the first step that is before the start of the clock, if the scenario does not set this start. */
export function pastStepProblem(
  { clock, timeline = [] }: Scenario,
  startOfClock: number,
): FieldProblem | undefined {
  if (clock?.now !== undefined) return undefined;
  for (const [index, { at }] of timeline.entries()) {
    const time = parseTime(at);
    if (time === undefined || time >= startOfClock) continue;
    return {
      code: "timeline_order",
      field: ["timeline", index, "at"],
      message: `the step is earlier (${at}) than the start of the clock, which is the real time`,
      hint: "write a later time, or set clock.now",
    };
  }
  return undefined;
}
