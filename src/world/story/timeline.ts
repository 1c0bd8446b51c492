import { isoOf } from "../clock.js";
import { performAction } from "../operations/operations.js";
import type { Timeline } from "../steps.js";
import type { World } from "../world.js";
import { actionDifferences } from "./differences.js";

/**
 * Runs the steps that the clock has passed, each at its own instant.
 *
 * Nothing runs between two looks at a world, so each look settles its timeline first.
 */
export function settleTimeline(world: World): void {
  const { timeline, clock, history } = world;
  const now = clock.now();
  while (timeline.dueAt <= now) {
    const index = timeline.next;
    const { at, step } = timeline.steps[index] as Timeline["steps"][number];
    // Before the step runs: a listener that hears of it may look at the world.
    timeline.next = index + 1;
    timeline.dueAt = timeline.steps[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    const worldThen = { ...world, clock: { ...clock, now: () => at } };
    const performed = performAction(worldThen, step, { isOfTimeline: true });
    if (step.assumptions !== undefined) {
      const { profile, assumptions, givenAssumptions, windows } = worldThen;
      Object.assign(world, { profile, assumptions, givenAssumptions, windows });
    }
    const differences = step.expect === undefined ? [] : actionDifferences(step.expect, performed);
    history.announce({
      type: "timeline.step",
      result: { index, at: isoOf(at), step, performed: { ...performed, secret: null }, differences },
    });
  }
}
