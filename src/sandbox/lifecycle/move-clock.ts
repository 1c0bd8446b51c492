import { viewClock } from "../views.js";
import type { World } from "../world.js";

/** What can be done to the clock: set it to an instant (epoch milliseconds), freeze or resume it. */
export interface ClockChange {
  readonly now?: number;
  readonly frozen?: boolean;
}

/** Sets, freezes or resumes the clock; throws `clock_backwards`, and changes nothing then. */
export function changeClock({ clock, events }: World, { now, frozen }: ClockChange): void {
  if (now !== undefined) clock.set(now);
  if (frozen === true) clock.freeze();
  if (frozen === false) clock.resume();
  announceClock({ clock, events });
}

/** Moves the clock on by milliseconds; throws `clock_backwards`, and changes nothing then. */
export function advanceClock({ clock, events }: World, by: number): void {
  clock.advance(by);
  announceClock({ clock, events });
}

function announceClock({ clock, events }: Pick<World, "clock" | "events">): void {
  events.announce({ type: "clock.moved", ...viewClock(clock) });
}
