import { actionErrorCodes, SandboxError } from "../../rules/errors.js";
import { type Instant, isoTime } from "../../rules/time.js";
import { validationError } from "../../rules/validation.js";
import { actionName } from "../../scenario/actions.js";
import { faultProblems } from "../../scenario/checks/fault-rules.js";
import { successesOf } from "../../scenario/checks/rule-input.js";
import { requireDuration, requireInstant } from "../clock.js";
import { activateFaults, type Fault } from "../faults.js";
import type { SandboxState } from "../sandbox-state.js";
import { type ActionResult, actionDifferences, type StepAction, type StepDifference } from "../steps.js";
import { type ClockView, viewClock } from "../views.js";
import { type Actor, announceChange, type Initiator, timeOfChange } from "./change.js";
import { createKey, expireKey, revokeKey, rotateKey, updateOrganization } from "./key-operations.js";

/**
 * Every change within a running scenario, by its name; a start replaces the scenario. Those that are also actions of steps have the
 * name of the action. Each emits its event at its end. A rejected one throws a `SandboxError` before it changes anything.
 */
export const operations = {
  create_key: createKey,
  rotate: rotateKey,
  revoke: revokeKey,
  expire: expireKey,
  organization: updateOrganization,
  faults: changeFaults,
  clock: changeClock,
  advance: advanceClock,
  clear_requests: clearRequests,
};

/** Replaces the faults; their durations count from now. Throws `validation_failed` with every contradiction, without changes. */
export function changeFaults(
  sandbox: SandboxState,
  faults: readonly Fault[],
  initiator: Initiator = {},
): void {
  const now = timeOfChange(sandbox, initiator);
  const { registry, seed } = sandbox;
  const { keys, organizations } = registry;
  const problems = faultProblems(faults, {
    refs: {
      key: { has: (ref) => keys.has(ref), all: () => keys.keys() },
      organization: { has: (ref) => organizations.has(ref), all: () => organizations.keys() },
    },
    successes: successesOf(sandbox.scenario),
    now,
  });
  if (problems.length > 0) throw validationError("change the faults", problems);

  sandbox.faults = activateFaults(faults, seed, now);
  announceChange(sandbox, initiator, { type: "faults.changed" });
}

/** A user sets, freezes or resumes the clock. Throws `clock_backwards` or `validation_failed` without changes. */
export function changeClock(
  sandbox: SandboxState,
  { now, frozen }: { readonly now?: Instant | undefined; readonly frozen?: boolean | undefined },
): ClockView {
  if (now !== undefined) sandbox.clock.set(requireInstant(now));
  if (frozen === true) sandbox.clock.freeze();
  if (frozen === false) sandbox.clock.resume();
  // The end of a presenter's story leaves it so.
  if (frozen !== undefined) sandbox.story.resumesAtEnd = false;
  return announceClock(sandbox, {});
}

/** A user advances the clock, or a step of the story. Throws `clock_backwards` or `validation_failed` without changes. */
export function advanceClock(
  sandbox: SandboxState,
  { by }: { readonly by: string | number },
  initiator: Initiator = {},
): ClockView {
  sandbox.clock.advance(requireDuration(by));
  return announceClock(sandbox, initiator);
}

function announceClock(sandbox: SandboxState, initiator: Initiator): ClockView {
  announceChange(sandbox, initiator, { type: "clock.moved", ...viewClock(sandbox.clock) });
  runDue(sandbox);
  return viewClock(sandbox.clock);
}

/** Not noted as a change: requests are no part of the scenario. */
export function clearRequests({ journal, counters, history }: SandboxState): void {
  journal.replaceWith();
  counters.clear();
  // Advice on a later request must not be about a cleared one.
  history.forgetRequests();
  journal.emit({ type: "requests.cleared" });
}

/**
 * Runs the steps of the timeline that are due at `now`; default: what the clock shows. A sandbox has no timer: whoever reads or
 * changes it calls this first. A server also calls it every few moments, so that steps run without requests.
 */
export function runDue(sandbox: SandboxState, now = sandbox.clock.now()): void {
  const { timeline, journal } = sandbox;
  for (;;) {
    const index = timeline.next;
    const due = timeline.steps[index];
    if (due === undefined || due.at > now) return;
    // Counted before it runs, because a listener of its events may read the sandbox.
    timeline.next = index + 1;

    const { at, step } = due;
    const performed = performAction(sandbox, step, at);
    let differences: StepDifference[] = [];
    if (step.expect !== undefined) {
      differences = actionDifferences(["timeline", index], step.expect, performed);
    }
    const result = { index, at: isoTime(at), step, performed: { ...performed, secret: null }, differences };
    journal.emit({ type: "timeline.step", result });
  }
}

const emptyActionResult: ActionResult = {
  error: null,
  key: null,
  replacement: null,
  secret: null,
  organization: null,
};

/**
 * Runs the action of a step; its rejection is a result. Secrets of new keys derive from the seed and their refs: a scenario always
 * plays the same way. `dueAt` is when a step of the timeline is due.
 */
export function performAction(sandbox: SandboxState, action: StepAction, dueAt?: number): ActionResult {
  const name = actionName(action);
  if (name === undefined) return emptyActionResult;

  // The input of an action is that of its operation, and the result has those members of an `ActionResult` that it has.
  const operation = operations[name] as (
    sandbox: SandboxState,
    input: unknown,
    initiator: Initiator,
  ) => Partial<ActionResult> | undefined;
  const input = action[name] as { readonly actor?: Actor }; // some actions name who runs them
  try {
    const result = operation(sandbox, input, { isScripted: true, actor: input.actor, dueAt });
    return { ...emptyActionResult, ...result };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const code = actionErrorCodes.find((known) => known === error.code);
    if (code === undefined) throw error;
    return { ...emptyActionResult, error: { code, message: error.message } };
  }
}
