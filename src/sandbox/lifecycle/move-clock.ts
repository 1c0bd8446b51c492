import { settleTimeline } from "../story/timeline.js";
import { viewClock } from "../views.js";
import type { World } from "../world.js";

/** What can be done to the clock: set it to an instant (epoch milliseconds), freeze or resume it. */
export interface ClockChange {
  readonly now?: number;
  readonly frozen?: boolean;
}

/** Sets, freezes or resumes the clock; throws `clock_backwards`, and changes nothing then. */
export function changeClock(world: World, { now, frozen }: ClockChange): void {
  const { clock } = world;
  if (now !== undefined) clock.set(now);
  if (frozen === true) clock.freeze();
  if (frozen === false) clock.resume();
  announceClock(world);
}

/** Moves the clock on by milliseconds; throws `clock_backwards`, and changes nothing then. */
export function advanceClock(world: World, by: number): void {
  world.clock.advance(by);
  announceClock(world);
}

function announceClock(world: World): void {
  world.events.announce({ type: "clock.moved", ...viewClock(world.clock) });
  settleTimeline(world);
}
