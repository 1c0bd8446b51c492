import type { Instant } from "../../rules/time.js";
import type { SandboxState } from "../sandbox-state.js";
import type { Initiator } from "../steps.js";
import { requireDuration, requireInstant } from "../time-input.js";
import type { ClockView } from "../view-shapes.js";
import { viewClock } from "../views.js";
import { runDue } from "./run-due.js";

/** The name of the one value of the clock that a user can set back, for `UserChanges`. */
const frozenName = "frozen";

interface ClockInput {
  readonly now?: Instant | undefined;
  readonly frozen?: boolean | undefined;
}

/** A user sets, freezes or resumes the clock. Throws `clock_backwards` or `validation_failed` without changes. */
export function changeClock(sandbox: SandboxState, { now, frozen }: ClockInput): ClockView {
  const { clock, changes } = sandbox;
  const wasFrozen = clock.isFrozen();
  if (now !== undefined) {
    const newTime = requireInstant(now);
    const isMoved = newTime > clock.now();
    clock.set(newTime);
    if (isMoved) changes.noteClockMoved();
  }
  if (frozen === true) clock.freeze();
  if (frozen === false) clock.resume();
  changes.noteSetByUser({ [frozenName]: String(wasFrozen) }, { [frozenName]: String(clock.isFrozen()) });
  return announceClock(sandbox);
}

/** A user advances the clock, or a step of the story. Throws `clock_backwards` or `validation_failed` without changes. */
export function advanceClock(
  sandbox: SandboxState,
  { by }: { readonly by: string | number },
  { isScripted = false }: Initiator = {},
): ClockView {
  const duration = requireDuration(by);
  sandbox.clock.advance(duration);
  const isMovedByUser = duration > 0 && !isScripted;
  if (isMovedByUser) sandbox.changes.noteClockMoved();
  return announceClock(sandbox);
}

/** Freezes or resumes the clock for the story. Emits no event: no user changes the clock, and no step does. */
export function setFrozenForStory({ clock, changes }: SandboxState, isFrozen: boolean): void {
  if (clock.isFrozen() === isFrozen) return;
  if (isFrozen) clock.freeze();
  else clock.resume();
  changes.forgetSetByStep([frozenName]);
}

/** Emits the event of a change of the clock, and runs what is due. */
function announceClock(sandbox: SandboxState): ClockView {
  sandbox.journal.emit({ type: "clock.moved", ...viewClock(sandbox.clock) });
  runDue(sandbox);
  return viewClock(sandbox.clock);
}
