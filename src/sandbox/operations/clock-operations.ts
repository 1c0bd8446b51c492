import type { Instant } from "../../rules/time.js";
import type { SandboxState } from "../sandbox-state.js";
import { requireDuration, requireInstant } from "../time-input.js";
import type { ClockView } from "../view-shapes.js";
import { viewClock } from "../views.js";
import { clockValues } from "./changeable-values.js";
import { runDue } from "./run-due.js";

interface ClockInput {
  readonly now?: Instant | undefined;
  readonly frozen?: boolean | undefined;
}

/** A user sets, freezes or resumes the clock. Throws `clock_backwards` or `validation_failed` without changes. */
export function changeClock(sandbox: SandboxState, input: ClockInput): ClockView {
  const { clock, changes } = sandbox;
  const newTime = input.now === undefined ? undefined : requireInstant(input.now);
  const isMoved = newTime !== undefined && newTime > clock.now();

  const before = clockValues(clock, false);
  if (newTime !== undefined) clock.set(newTime);
  if (input.frozen === true) clock.freeze();
  if (input.frozen === false) clock.resume();
  const view = announceClock(sandbox);

  changes.noteUser(before, clockValues(clock, isMoved));
  return view;
}

/** A user advances the clock. Throws as `advanceClock` does. */
export function advanceByUser(sandbox: SandboxState, { by }: { readonly by: string | number }): ClockView {
  const { clock, changes } = sandbox;
  const isMoved = requireDuration(by) > 0;

  const before = clockValues(clock, false);
  const view = advanceClock(sandbox, by);
  changes.noteUser(before, clockValues(clock, isMoved));
  return view;
}

/** A step of a story advances the clock. Throws `clock_backwards` or `validation_failed` without changes. */
export function advanceClock(sandbox: SandboxState, by: string | number): ClockView {
  sandbox.clock.advance(requireDuration(by));
  return announceClock(sandbox);
}

/** Freezes or resumes the clock for the story, not for a user. Nobody is told, since no time passes. */
export function setFrozenForStory({ clock, changes }: SandboxState, isFrozen: boolean): void {
  const before = clockValues(clock, false);
  if (isFrozen) clock.freeze();
  else clock.resume();
  changes.noteStep(before, clockValues(clock, false));
}

function announceClock(sandbox: SandboxState): ClockView {
  sandbox.journal.emit({ type: "clock.moved", ...viewClock(sandbox.clock) });
  runDue(sandbox);
  return viewClock(sandbox.clock);
}
