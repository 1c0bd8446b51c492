import { parseWhen } from "../../scenario/format/time.js";
import type { Scenario } from "../../scenario/scenario.generated.js";
import { isoOf } from "../clock.js";
import { actionIn, performAction } from "../operations/perform-action.js";
import type { World } from "../world.js";
import { untoldSecret } from "./step-details.js";

/** A step of a timeline, as scenarios write it. */
export type TimelineStep = NonNullable<Scenario["timeline"]>[number];

/** What is still to happen by itself in a world. */
export interface Timeline {
  readonly steps: readonly { readonly at: number; readonly step: TimelineStep }[];
  /** The place of the next step in `steps`. */
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
 * Lets happen what the clock has passed, each step at its own instant.
 *
 * Nothing runs in between two looks at a world, so that whoever looks at one settles it first.
 */
export function settleTimeline(world: World): void {
  const { timeline, clock } = world;
  if (timeline.dueAt === Number.POSITIVE_INFINITY) return;
  const now = clock.now();
  while (timeline.dueAt <= now) takeStep(world, timeline);
}

/** The steps that are still to come, each with its instant, so that they mean the same to a later start. */
export function remainingSteps({ steps, next }: Timeline): TimelineStep[] {
  return steps.slice(next).map(({ step, at }) => ({ ...step, at: isoOf(at) }));
}

function takeStep(world: World, timeline: Timeline): void {
  const { next } = timeline;
  const { at, step } = timeline.steps[next] as Timeline["steps"][number];
  // Before the step is taken: who hears of it may look at the world.
  timeline.next = next + 1;
  timeline.dueAt = timeline.steps[next + 1]?.at ?? Number.POSITIVE_INFINITY;
  const performed = performAction(worldAt(world, at), step);
  world.events.announce({
    type: "timeline.step",
    at: isoOf(at),
    action: actionIn(step) ?? "faults",
    refusal: performed.refusal?.code ?? null,
    expected: step.expect?.error ?? null,
    details: { kind: "timeline", at: isoOf(at), step, performed: untoldSecret(performed) },
  });
}

// The same world, its clock held at an instant that has passed.
function worldAt(world: World, instant: number): World {
  return { ...world, clock: { ...world.clock, now: () => instant } };
}
