import { isoTime } from "../../rules/time.js";
import type { SandboxState } from "../sandbox-state.js";
import { actionDifferences } from "../step-results.js";
import { takeDueStep } from "../timeline.js";
import { performAction } from "./actions.js";

/** Runs the steps of the timeline that are due. Nothing runs in the background: whoever reads or changes a sandbox calls this first. */
export function runDue(sandbox: SandboxState): void {
  if (sandbox.timeline.dueAt === Number.POSITIVE_INFINITY) return;
  runStepsUntil(sandbox, sandbox.clock.now());
}

/** Runs the steps of the timeline that are due at `now` (epoch milliseconds). */
export function runStepsUntil(sandbox: SandboxState, now: number): void {
  const { timeline, journal, startedAt } = sandbox;
  // A listener may start another scenario.
  while (timeline === sandbox.timeline) {
    // Taken before it runs, because a listener of its events may read the sandbox.
    const due = takeDueStep(timeline, now);
    if (due === undefined) return;

    const { index, at, step } = due;
    const performed = performAction(sandbox, step, at);
    const differences = step.expect === undefined ? [] : actionDifferences(step.expect, performed);
    const result = { index, at: isoTime(at), step, performed: { ...performed, secret: null }, differences };
    if (at <= startedAt) timeline.ranAtStart.push(result);
    journal.emit({ type: "timeline.step", result });
  }
}
