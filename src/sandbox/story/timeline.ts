import { parseWhen } from "../../scenario/format/time.js";
import { isoOf } from "../clock.js";
import { performAction } from "../operations/perform-action.js";
import type { World } from "../world.js";
import { actionDifferences } from "./differences.js";
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

/**
 * Runs the steps that the clock has passed, each at its own instant.
 *
 * Nothing runs between two looks at a world, so each look settles its timeline first.
 */
export function settleTimeline(world: World): void {
  const { timeline, clock } = world;
  const now = clock.now();
  while (timeline.dueAt <= now) runNext(world, timeline);
}

/** The steps that are still to come, each with its instant, so that they mean the same to a later start. */
export function remainingSteps({ steps, next }: Timeline): TimelineStep[] {
  return steps.slice(next).map(({ step, at }) => ({ ...step, at: isoOf(at) }));
}

function runNext(world: World, timeline: Timeline): void {
  const index = timeline.next;
  const { at, step } = timeline.steps[index] as Timeline["steps"][number];
  // Before the step runs: a listener that hears of it may look at the world.
  timeline.next = index + 1;
  timeline.dueAt = timeline.steps[index + 1]?.at ?? Number.POSITIVE_INFINITY;
  const performed = performAction(worldAt(world, at), step);
  const differences = step.expect === undefined ? [] : actionDifferences(step.expect, performed);
  world.events.announce({
    type: "timeline.step",
    result: { index, at: isoOf(at), step, performed: { ...performed, secret: null }, differences },
  });
}

// The same world, its clock held at an instant that has passed.
function worldAt(world: World, instant: number): World {
  return { ...world, clock: { ...world.clock, now: () => instant } };
}
