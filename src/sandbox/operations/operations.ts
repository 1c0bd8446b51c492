import { type ActionErrorCode, actionErrorCodes, SandboxError } from "../../rules/errors.js";
import { readAccess } from "../../rules/organization.js";
import { type Instant, isoTime } from "../../rules/time.js";
import { validationError } from "../../rules/validation.js";
import { type ActionName, actionName, actionRow } from "../../scenario/actions.js";
import { faultProblems } from "../../scenario/checks/fault-rules.js";
import type { ControlBody } from "../../scenario/format/control-bodies.js";
import { membersToCamelCase } from "../../schema/spelling.js";
import { activateFaults, type Fault } from "../active-faults.js";
import type { SandboxState } from "../sandbox-state.js";
import { type ActionResult, actionDifferences, type Initiator, type StepAction } from "../step-results.js";
import { requireDuration, requireInstant } from "../time-input.js";
import type { Timeline } from "../timeline.js";
import type { ClockView, OrganizationView } from "../view-shapes.js";
import { viewClock, viewOrganization } from "../views.js";
import { assumptionNames, changeAssumptions } from "./assumption-operations.js";
import { changeableValues, noteStepChange, noteUserChange } from "./changes.js";
import { createKey, expireKey, requireAdministrator, revokeKey, rotateKey } from "./key-operations.js";

/** A result without an error, a key or an organization: each action adds what it has. */
const emptyActionResult: ActionResult = {
  error: null,
  key: null,
  replacement: null,
  secret: null,
  organization: null,
};

/**
 * Every change that users make, by name. A rejected one throws a `SandboxError` and changes nothing.
 *
 * Those of `recordedAction` are also actions of steps. Each says whose values it may change: `refs` of keys or of an
 * organization, `newRefs` of keys that it creates, and in `sets` the values that a step of the scenario would set as well.
 * `@__PURE__` lets a bundle for browsers leave them out.
 */
export const operations = {
  create_key: /* @__PURE__ */ recordedAction("create_key", {
    run: createKey,
    refs: () => [],
    newRefs: ({ key }) => [key.ref],
  }),
  rotate: /* @__PURE__ */ recordedAction("rotate", {
    run: rotateKey,
    refs: ({ key }) => [key],
    newRefs: ({ replacement }) => [replacement.ref],
  }),
  revoke: /* @__PURE__ */ recordedAction("revoke", { run: revokeKey, refs: ({ key }) => [key] }),
  expire: /* @__PURE__ */ recordedAction("expire", {
    run: expireKey,
    refs: ({ key }) => [key],
    sets: ({ key }) => [`key ${key} expiresAt`],
  }),
  organization: /* @__PURE__ */ recordedAction("organization", {
    run: updateOrganization,
    refs: ({ ref }) => [ref],
    sets: accessNames,
  }),
  faults: /* @__PURE__ */ recordedAction("faults", {
    run: changeFaults,
    refs: () => [],
    sets: () => ["faults"],
  }),
  assumptions: /* @__PURE__ */ recordedAction("assumptions", {
    run: changeAssumptions,
    refs: () => [],
    sets: assumptionNames,
  }),
  clock: changeClock,
  advance: advanceByUser,
  clear_requests: clearRequests,
};

/** An action that steps and users run. */
interface ChangingAction<Input, Result> {
  readonly run: (sandbox: SandboxState, input: Input, now: number, by: Initiator) => Result;
  /** The refs of the keys or the organization that it changes: their values are compared before and after. */
  readonly refs: (input: Input) => readonly string[];
  /** The refs of the keys that it creates: they have values only after it. Default: none. */
  readonly newRefs?: (result: Result) => readonly string[];
  /** The names of the values that it sets, even to what they were before. Default: only those that differ after it. */
  readonly sets?: (input: Input) => readonly string[];
}

/** An action that checks who runs it, and notes what it changes. Its caller has run what is due in the timeline. */
function recordedAction<Input, Result>(
  name: ActionName,
  action: ChangingAction<Input, Result>,
): (sandbox: SandboxState, input: Input, by?: Initiator) => Result {
  return (sandbox, input, by = {}) => {
    if (actionRow(name).isForAdministrators) requireAdministrator(by);
    // A step of the timeline runs as if at the instant when it is due.
    const now = by.dueAt ?? sandbox.clock.now();
    // Read before, because a listener of the action's event may start another scenario, with its own changes.
    const { changes } = sandbox;
    const refs = action.refs(input);

    const before = changeableValues(sandbox, name, refs);
    const result = action.run(sandbox, input, now, by);
    const newRefs = action.newRefs?.(result) ?? [];
    const after = changeableValues(sandbox, name, [...refs, ...newRefs]);

    if (by.isScripted) noteStepChange(changes, before, after, action.sets?.(input));
    else noteUserChange(changes, before, after);
    return result;
  };
}

/**
 * Runs the action of a step; its error is a result. Secrets of new keys derive from the seed and their refs: a scenario always
 * plays the same way. `dueAt` is when a step of the timeline is due.
 */
export function performAction(sandbox: SandboxState, action: StepAction, dueAt?: number): ActionResult {
  const name = actionName(action);
  if (name === undefined) return emptyActionResult;

  const { actor, input } = inputOfAction(action, name);
  const by: Initiator = { actor, isScripted: true, dueAt };
  try {
    const changed = operations[name](sandbox, input, by);
    // The new assumptions, which this operation returns, are no part of a step's result.
    if (name === "assumptions") return emptyActionResult;
    return { ...emptyActionResult, ...changed };
  } catch (error) {
    if (!(error instanceof SandboxError) || !isActionError(error.code)) throw error;
    return { ...emptyActionResult, error: { code: error.code, message: error.message } };
  }
}

/** What an action gives to its operation, and who runs it. The step's schema has checked that the input fits, hence `never`. */
function inputOfAction(
  action: StepAction,
  name: ActionName,
): { readonly actor: Initiator["actor"]; readonly input: never } {
  // A list of faults names nobody who runs it.
  if (name === "faults") return { actor: undefined, input: action.faults as never };
  const { actor, ...input } = action[name] as { readonly actor?: Initiator["actor"] };
  return { actor, input: input as never };
}

function isActionError(code: string): code is ActionErrorCode {
  return (actionErrorCodes as readonly string[]).includes(code);
}

interface ClockInput {
  readonly now?: Instant | undefined;
  readonly frozen?: boolean | undefined;
}

/** A user sets, freezes or resumes the clock. Throws `clock_backwards` or `validation_failed` without changes. */
function changeClock(sandbox: SandboxState, input: ClockInput): ClockView {
  const { clock, changes } = sandbox;
  const newTime = input.now === undefined ? undefined : requireInstant(input.now);
  const isMoved = newTime !== undefined && newTime > clock.now();

  const before = changeableValues(sandbox, "clock");
  if (newTime !== undefined) clock.set(newTime);
  if (input.frozen === true) clock.freeze();
  if (input.frozen === false) clock.resume();
  const view = announceClock(sandbox);

  noteUserChange(changes, before, changeableValues(sandbox, "clock"));
  if (isMoved) noteMove(changes);
  return view;
}

/** A user advances the clock; a step of a story calls `advanceClock`. */
function advanceByUser(sandbox: SandboxState, { by }: { readonly by: string | number }): ClockView {
  const { changes } = sandbox;
  const isMoved = requireDuration(by) > 0;
  const view = advanceClock(sandbox, by);
  if (isMoved) noteMove(changes);
  return view;
}

/** Notes that a user has moved the clock. It never runs backwards, so nothing removes the note. */
function noteMove(changes: SandboxState["changes"]): void {
  const withoutUsers = "false";
  changes.set("moved", withoutUsers);
}

export function advanceClock(sandbox: SandboxState, by: string | number): ClockView {
  sandbox.clock.advance(requireDuration(by));
  return announceClock(sandbox);
}

function announceClock(sandbox: SandboxState): ClockView {
  sandbox.journal.emit({ type: "clock.moved", ...viewClock(sandbox.clock) });
  runDue(sandbox);
  return viewClock(sandbox.clock);
}

/** Runs the steps of the timeline that are due. Nothing runs in the background: every read of a sandbox calls this first. */
export function runDue(sandbox: SandboxState): void {
  const { timeline, journal } = sandbox;
  if (timeline.dueAt === Number.POSITIVE_INFINITY) return;
  const now = sandbox.clock.now();
  // A listener may start another scenario.
  while (timeline === sandbox.timeline && timeline.dueAt <= now) {
    const index = timeline.next;
    const { at, step } = timeline.steps[index] as Timeline["steps"][number]; // there is one, since it is due
    // Before the step runs, because a listener of its events may read the sandbox.
    timeline.next = index + 1;
    timeline.dueAt = timeline.steps[index + 1]?.at ?? Number.POSITIVE_INFINITY;

    const performed = performAction(sandbox, step, at);
    const differences = step.expect === undefined ? [] : actionDifferences(step.expect, performed);
    journal.emit({
      type: "timeline.step",
      result: { index, at: isoTime(at), step, performed: { ...performed, secret: null }, differences },
    });
  }
}

type OrganizationInput = ControlBody<"organization_update"> & { readonly ref: string };

/** Changes an organization, effective with the next request. Throws `unknown_ref` without changes. */
function updateOrganization(
  sandbox: SandboxState,
  input: OrganizationInput,
): { readonly organization: OrganizationView } {
  const entry = sandbox.registry.organization(input.ref);
  entry.organization = { ...entry.organization, ...readAccess(input, entry.organization) };
  const organization = viewOrganization(entry.organization);
  sandbox.journal.emit({ type: "organization.updated", organization });
  return { organization };
}

/** The values of an organization that a change sets. */
function accessNames({ ref, ...access }: OrganizationInput): string[] {
  const written = membersToCamelCase(access) as Readonly<Record<string, unknown>>; // a mapping stays one
  const names: string[] = [];
  for (const [member, value] of Object.entries(written)) {
    if (value !== undefined) names.push(`organization ${ref} ${member}`);
  }
  return names;
}

/** Durations count from now. Throws `validation_failed` with every contradiction, without changes. */
function changeFaults(sandbox: SandboxState, faults: readonly Fault[], now: number): void {
  const { registry, seed, journal } = sandbox;
  const legacyOwners = new Set<string>();
  for (const { key } of registry.keys.values()) {
    if (key.legacy) legacyOwners.add(key.organization);
  }

  const problems = faultProblems(faults, {
    refs: { key: registry.keys, organization: registry.organizations },
    endpoints: sandbox.scenario.endpoints,
    now,
    keys: { keyOf: (ref) => registry.keys.get(ref)?.key ?? "unknown", legacyOwners },
  });
  if (problems.length > 0) throw validationError("Failed to change the faults", problems);

  sandbox.faults = activateFaults(faults, seed, now);
  journal.emit({ type: "faults.changed" });
}

export function clearRequests({ journal, counters, behavior, registry }: SandboxState): void {
  journal.replaceWith();
  counters.clear();

  // Advice on a later request must not be about a cleared one.
  behavior.rejected.clear();
  behavior.pages.clear();
  for (const entry of registry.keys.values()) {
    if (entry.hasWorked) entry.hasWorked = false;
  }

  journal.emit({ type: "requests.cleared" });
}
