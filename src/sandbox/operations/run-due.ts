import { isoTime } from "../../rules/time.js";
import type { SandboxState } from "../sandbox-state.js";
import { actionDifferences } from "../step-results.js";
import { takeDueStep } from "../timeline.js";
import { performAction } from "./actions.js";

/**
 * Runs the steps of the timeline that are due. Nothing runs in the background, not even at a start: whoever reads or changes a
 * sandbox calls this first.
 */
export function runDue(sandbox: SandboxState): void {
  const { timeline, journal } = sandbox;
  const now = sandbox.clock.now();
  // A listener may start another scenario.
  while (timeline === sandbox.timeline) {
    // Taken before it runs, because a listener of its events may read the sandbox.
    const due = takeDueStep(timeline, now);
    if (due === undefined) return;

    const { index, at, step } = due;
    const performed = performAction(sandbox, step, at);
    const differences = step.expect === undefined ? [] : actionDifferences(step.expect, performed);
    const result = { index, at: isoTime(at), step, performed: { ...performed, secret: null }, differences };
    journal.emit({ type: "timeline.step", result });
  }
}
