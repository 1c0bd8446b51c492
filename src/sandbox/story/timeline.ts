import { assumptionsFor } from "../../spec/assumptions.js";
import { assumedAt, nextAssumed } from "../changes.js";
import { isoOf } from "../clock.js";
import { performAction } from "../operations/operations.js";
import type { World } from "../world.js";
import { actionDifferences } from "./differences.js";

/**
 * Runs the steps that are due, each at its own instant.
 *
 * Nothing runs in the background: every read of a sandbox settles its timeline first.
 */
export function settleTimeline(world: World): void {
  const { timeline, clock, history } = world;
  const now = clock.now();
  while (timeline.dueAt <= now) {
    const index = timeline.next;
    const due = timeline.dueAt;
    const { at, step } = timeline.steps[index] ?? { at: Number.POSITIVE_INFINITY };
    if (step === undefined || at > due) {
      timeline.dueAt = Math.min(at, nextAssumed(world.changes, due));
      assumeChanged(world, due);
      continue;
    }
    // Before the step runs, because a listener of its events may read the sandbox.
    timeline.next = index + 1;
    const next = timeline.steps[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    timeline.dueAt = Math.min(next, nextAssumed(world.changes, at));
    const performed = performAction(world, step, at);
    if (performed.refusal !== null) timeline.refusals.set(index, performed.refusal.code);
    const differences = step.expect === undefined ? [] : actionDifferences(step.expect, performed);
    history.announce({
      type: "timeline.step",
      result: { index, at: isoOf(at), step, performed: { ...performed, secret: null }, differences },
    });
  }
}

// No change sets an assumption that affects how requests are counted.
function assumeChanged(world: World, at: number): void {
  const { changes = [], profile } = world;
  world.givenAssumptions = { ...world.givenAssumptions, ...assumedAt(changes, at) };
  world.assumptions = assumptionsFor(profile, world.givenAssumptions);
  world.history.announce({ type: "assumptions.changed" });
}
