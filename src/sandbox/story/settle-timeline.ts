import { isoOf } from "../clock.js";
import { performAction } from "../operations/operations.js";
import type { World } from "../world.js";
import { actionDifferences } from "./differences.js";
import type { Timeline } from "./timeline.js";

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
