import { type RejectionCode, rejectionCodes, SandboxError } from "../../rules/errors.js";
import { type ActionName, actionNames, actionRow } from "../../rules/steps.js";
import { durationOf, type Instant, instantOf, isoOf } from "../clock.js";
import { nextRuleAt, runRules } from "../records/records.js";
import type { SandboxState } from "../sandbox.js";
import { actionDifferences, type Initiator, type Performed, type StepAction } from "../steps.js";
import type { ClockView } from "../view-shapes.js";
import { viewClock } from "../views.js";
import { createKey, expireKey, requireAdministrator, revokeKey, rotateKey } from "./keys.js";
import { changeRecord } from "./records.js";
import { changeAssumptions, changeFaults, clearRequests, updateOrganization } from "./settings.js";

/** Every change that users make, by name. A rejected one throws a `SandboxError` and changes nothing. */
export const operations = {
  create_key: /* @__PURE__ */ actionOf("create_key", createKey),
  rotate: /* @__PURE__ */ actionOf("rotate", rotateKey),
  revoke: /* @__PURE__ */ actionOf("revoke", revokeKey),
  expire: /* @__PURE__ */ actionOf("expire", expireKey),
  organization: /* @__PURE__ */ actionOf("organization", updateOrganization),
  record: /* @__PURE__ */ actionOf("record", changeRecord),
  faults: /* @__PURE__ */ actionOf("faults", changeFaults),
  assumptions: /* @__PURE__ */ actionOf("assumptions", changeAssumptions),
  clock: changeClock,
  advance: (sandbox: SandboxState, { by }: { readonly by: string | number }) => advanceClock(sandbox, by),
  clear_requests: clearRequests,
};

/** Runs an action now, after everything that is due before it, or when its step of the timeline is due. */
function actionOf<Input, Result>(
  name: ActionName,
  run: (sandbox: SandboxState, input: Input, now: number, by: Initiator) => Result,
): (sandbox: SandboxState, input: Input, by?: Initiator) => Result {
  return (sandbox, input, by = {}) => {
    if (by.dueAt === undefined) runDue(sandbox);
    if (actionRow(name).isForAdministrators) requireAdministrator(by);
    return run(sandbox, input, by.dueAt ?? sandbox.clock.now(), by);
  };
}

const nothing: Performed = {
  rejection: null,
  key: null,
  replacement: null,
  secret: null,
  organization: null,
  record: null,
};

/** A rejection is a result. Secrets of new keys derive from the seed and their refs: a scenario always plays the same way. */
export function performAction(sandbox: SandboxState, action: StepAction, dueAt?: number): Performed {
  const name = actionIn(action);
  if (name === undefined) return nothing;
  const { actor, ...given } = action[name] as { readonly actor?: Initiator["actor"] };
  // The step's schema has checked the input of this operation.
  const input = (name === "faults" ? action.faults : given) as never;
  try {
    return { ...nothing, ...operations[name](sandbox, input, { actor, isScripted: true, dueAt }) };
  } catch (error) {
    if (!(error instanceof SandboxError) || !isRejection(error.code)) throw error;
    return { ...nothing, rejection: { code: error.code, message: error.message } };
  }
}

export function actionIn(step: StepAction): ActionName | undefined {
  return actionNames.find((name) => step[name] !== undefined);
}

function isRejection(code: string): code is RejectionCode {
  return (rejectionCodes as readonly string[]).includes(code);
}

/** Sets, freezes or resumes the clock. Throws `clock_backwards` or `validation_failed` without changes. */
function changeClock(
  sandbox: SandboxState,
  { now, frozen }: { readonly now?: Instant | undefined; readonly frozen?: boolean | undefined },
): ClockView {
  const { clock } = sandbox;
  if (now !== undefined) clock.set(instantOf(now));
  if (frozen === true) clock.freeze();
  if (frozen === false) clock.resume();
  return announceClock(sandbox);
}

export function advanceClock(sandbox: SandboxState, by: string | number): ClockView {
  sandbox.clock.advance(durationOf(by));
  return announceClock(sandbox);
}

function announceClock(sandbox: SandboxState): ClockView {
  sandbox.history.emit({ type: "clock.moved", ...viewClock(sandbox.clock) });
  runDue(sandbox);
  return viewClock(sandbox.clock);
}

/** Runs the due steps of the timeline. Nothing runs in the background: every read of a sandbox calls this first. */
export function runDue(sandbox: SandboxState): SandboxState {
  const { timeline, history } = sandbox;
  if (timeline.dueAt === Number.POSITIVE_INFINITY) return sandbox;
  const now = sandbox.clock.now();
  // A listener may start another scenario.
  while (timeline === sandbox.timeline && timeline.dueAt <= now) {
    const index = timeline.next;
    const due = timeline.dueAt;
    const { at, step } = timeline.steps[index] ?? { at: Number.POSITIVE_INFINITY };
    if (step === undefined || at > due) {
      timeline.dueAt = at;
      runRules(sandbox, due);
      timeline.dueAt = Math.min(timeline.dueAt, nextRuleAt(sandbox.records));
      continue;
    }
    // Before the step runs, because a listener of its events may read the sandbox.
    timeline.next = index + 1;
    const next = timeline.steps[index + 1]?.at ?? Number.POSITIVE_INFINITY;
    timeline.dueAt = Math.min(next, nextRuleAt(sandbox.records));
    const performed = performAction(sandbox, step, at);
    if (performed.rejection !== null) timeline.rejections.set(index, performed.rejection.code);
    const differences = step.expect === undefined ? [] : actionDifferences(step.expect, performed);
    history.emit({
      type: "timeline.step",
      result: { index, at: isoOf(at), step, performed: { ...performed, secret: null }, differences },
    });
  }
  return sandbox;
}
