import type { Instant } from "../../rules/time.js";
import type { VirtualClock } from "../clock.js";
import type { SandboxState } from "../sandbox-state.js";
import { requireDuration, requireInstant } from "../time-input.js";
import type { NamedValues } from "../user-changes.js";
import type { ClockView } from "../view-shapes.js";
import { viewClock } from "../views.js";
import { runDue } from "./run-due.js";

interface ClockInput {
  readonly now?: Instant | undefined;
  readonly frozen?: boolean | undefined;
}

/** A user sets, freezes or resumes the clock. Throws `clock_backwards` or `validation_failed` without changes. */
export function changeClock(sandbox: SandboxState, { now, frozen }: ClockInput): ClockView {
  const { clock, changes } = sandbox;
  const before = frozenValue(clock);
  if (now !== undefined) {
    const newTime = requireInstant(now);
    const isMoved = newTime > clock.now();
    clock.set(newTime);
    if (isMoved) changes.noteClockMoved();
  }
  if (frozen === true) clock.freeze();
  if (frozen === false) clock.resume();
  changes.noteSetByUser(before, frozenValue(clock));
  return announceClock(sandbox);
}

/** A user advances the clock. Throws as `advanceClock` does. */
export function advanceByUser(sandbox: SandboxState, { by }: { readonly by: string | number }): ClockView {
  const duration = requireDuration(by);
  sandbox.clock.advance(duration);
  if (duration > 0) sandbox.changes.noteClockMoved();
  return announceClock(sandbox);
}

/** A step of the story advances the clock. Throws `clock_backwards` or `validation_failed` without changes. */
export function advanceClock(sandbox: SandboxState, by: string | number): ClockView {
  sandbox.clock.advance(requireDuration(by));
  return announceClock(sandbox);
}

/** Freezes or resumes the clock for the story, not for a user. Nobody is told, since no time passes. */
export function setFrozenForStory({ clock, changes }: SandboxState, isFrozen: boolean): void {
  if (clock.isFrozen() === isFrozen) return;
  if (isFrozen) clock.freeze();
  else clock.resume();
  changes.forgetSetByStep(Object.keys(frozenValue(clock)));
}

function frozenValue(clock: VirtualClock): NamedValues {
  return { frozen: String(clock.isFrozen()) };
}

/** Emits the event of a change of the clock, and runs what is due. */
function announceClock(sandbox: SandboxState): ClockView {
  sandbox.journal.emit({ type: "clock.moved", ...viewClock(sandbox.clock) });
  runDue(sandbox);
  return viewClock(sandbox.clock);
}
