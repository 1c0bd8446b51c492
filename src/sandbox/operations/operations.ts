import { type ActionName, actionName, actionRow } from "../../rules/actions.js";
import { environments, maximumActiveKeys } from "../../rules/api-key.js";
import { type Assumptions, assumptionTable } from "../../rules/assumptions.js";
import { type ActionErrorCode, actionErrorCodes, SandboxError } from "../../rules/errors.js";
import { readAccess } from "../../rules/organization.js";
import { type Instant, isoTime } from "../../rules/time.js";
import { requireDuration, requireInstant } from "../../rules/time-input.js";
import { requireFields, validationError } from "../../rules/validation.js";
import { faultProblems } from "../../scenario/checks/fault-rules.js";
import type { ControlBody } from "../../scenario/format/inputs.js";
import { camelCase } from "../../schema/json.js";
import { quote } from "../../schema/words.js";
import { activateFaults, type Fault } from "../active-faults.js";
import { assumptionsInEffect, type ProfileSettings, profileInEffect } from "../profile.js";
import { replaceState, type SandboxState } from "../sandbox-state.js";
import {
  type ActionResult,
  actionDifferences,
  type Initiator,
  type StepAction,
  type Timeline,
} from "../step-results.js";
import { startUsage, type Usage, usageAt, type Windows, windowsOf } from "../usage.js";
import {
  withGrantedScopes,
  withNameSuffix,
  withoutGrantedScopes,
  withoutNameSuffix,
} from "../varied-records.js";
import type { ClockView, OrganizationView } from "../view-shapes.js";
import { viewClock, viewOrganization } from "../views.js";
import { recordChanges } from "./changes.js";
import {
  activeKeysIn,
  createKey,
  expireKey,
  requireAdministrator,
  revokeKey,
  rotateKey,
} from "./key-operations.js";

const nothingPerformed: ActionResult = {
  error: null,
  key: null,
  replacement: null,
  secret: null,
  organization: null,
};

/**
 * Every change that users make, by name. A rejected one throws a `SandboxError` and changes nothing.
 *
 * Those of `recordedAction` are also actions of steps. `@__PURE__` lets a bundle for browsers leave them out.
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
  /** The refs of the keys or the organization that it changes. */
  readonly refs: (input: Input) => readonly string[];
  /** The refs of the keys that it creates. Default: none. */
  readonly newRefs?: ((result: Result) => readonly string[]) | undefined;
  /** The names of the values that it sets, also to what they are already. Default: only those that change. */
  readonly sets?: ((input: Input) => readonly string[]) | undefined;
}

/** An action that checks who runs it, and records what it changes. The caller has run what was due in the timeline before. */
function recordedAction<Input, Result>(
  name: ActionName,
  action: ChangingAction<Input, Result>,
): (sandbox: SandboxState, input: Input, by?: Initiator) => Result {
  return (sandbox, input, by = {}) => {
    if (actionRow(name).isForAdministrators) requireAdministrator(by);
    // A step of the timeline runs as if at the instant when it is due.
    const now = by.dueAt ?? sandbox.clock.now();
    return recordChanges(sandbox, {
      operation: name,
      isScripted: by.isScripted === true,
      refs: action.refs(input),
      newRefs: action.newRefs,
      namesOfSet: () => action.sets?.(input) ?? [],
      run: () => action.run(sandbox, input, now, by),
    });
  };
}

/**
 * Runs the action of a step; its error is a result. Secrets of new keys derive from the seed and their refs: a scenario always
 * plays the same way. `dueAt` is when a step of the timeline is due.
 */
export function performAction(sandbox: SandboxState, action: StepAction, dueAt?: number): ActionResult {
  const name = actionName(action);
  if (name === undefined) return nothingPerformed;

  // The input of the operation: the step's fields but for who runs it, or its list of faults.
  const { actor, ...fields } = action[name] as { readonly actor?: Initiator["actor"] };
  const input = (name === "faults" ? action.faults : fields) as never; // the step's schema has checked it

  const by: Initiator = { actor, isScripted: true, dueAt };
  try {
    const changed = operations[name](sandbox, input, by);
    // New assumptions are neither of a key nor of an organization.
    if (name === "assumptions") return nothingPerformed;
    return { ...nothingPerformed, ...changed };
  } catch (error) {
    if (!(error instanceof SandboxError) || !isActionError(error.code)) throw error;
    return { ...nothingPerformed, error: { code: error.code, message: error.message } };
  }
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
  const { clock } = sandbox;
  const newTime = input.now === undefined ? undefined : requireInstant(input.now);
  const isMoved = newTime !== undefined && newTime > clock.now();
  return recordClockChange(sandbox, isMoved, () => {
    if (newTime !== undefined) clock.set(newTime);
    if (input.frozen === true) clock.freeze();
    if (input.frozen === false) clock.resume();
    return announceClock(sandbox);
  });
}

/** A user advances the clock; a step of a story calls `advanceClock`. */
function advanceByUser(sandbox: SandboxState, { by }: { readonly by: string | number }): ClockView {
  const isMoved = requireDuration(by) > 0;
  return recordClockChange(sandbox, isMoved, () => advanceClock(sandbox, by));
}

function recordClockChange(sandbox: SandboxState, isMoved: boolean, run: () => ClockView): ClockView {
  const { changes } = sandbox;
  const clock = recordChanges(sandbox, { operation: "clock", isScripted: false, refs: [], run });
  // Without users, `moved` would be false. The clock never runs backwards, so nothing takes this change back.
  if (isMoved) changes.set("moved", "false");
  return clock;
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
  const written = camelCase(access) as Readonly<Record<string, unknown>>; // a mapping stays one
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
    scenario: sandbox.scenario,
    now,
    keys: { at: (ref) => registry.keys.get(ref)?.key, legacyOwners },
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

/** With a profile, all others become the profile's. Usage in the current minute and day stays counted. */
function changeAssumptions(
  sandbox: SandboxState,
  input: ControlBody<"assumptions_change">,
  now: number,
): Assumptions {
  const { profile, ...chosen } = input;
  const ownBefore = profile === undefined ? sandbox.ownAssumptions : {};
  const settings = { profile: profile ?? sandbox.profile, ownAssumptions: { ...ownBefore, ...chosen } };
  const next = assumptionsInEffect({ ...settings, run: sandbox.run, endpoints: sandbox.endpoints });

  // What the sandbox has must fit the new assumptions.
  requireFields("change the assumptions", {
    me_scope: missingScopeProblem(next),
    scopes: heldScopeProblem(sandbox, next),
    retiring_counts_as_active: tooManyActiveProblem(sandbox, next, now),
  });

  // Its keys and organizations change with them.
  const windows = windowsOf(next);
  for (const entry of sandbox.registry.keys.values()) {
    entry.usage = carriedOver(entry.usage, sandbox.windows, windows, now);
  }
  const nextState = { ...settings, assumptions: next, windows };
  varyRecords(sandbox, { ...sandbox, ...nextState });

  replaceState(sandbox, nextState);
  sandbox.journal.emit({ type: "assumptions.changed" });
  return next;
}

/** The values that a change of assumptions sets: with a profile, all of them. */
function assumptionNames({ profile, ...chosen }: ControlBody<"assumptions_change">): string[] {
  if (profile === undefined) return Object.keys(chosen);
  return ["profile", "fixed", ...Object.keys(assumptionTable)];
}

/** Removes from the records what the profile `varied` has added with the settings before, and adds that of the next settings. */
function varyRecords(sandbox: SandboxState, next: ProfileSettings): void {
  const { organizations, keys } = sandbox.registry;
  for (const entry of organizations.values()) {
    const plain = withoutNameSuffix(sandbox, entry.organization);
    entry.organization = withNameSuffix(next, plain);
  }

  if (profileInEffect(sandbox) !== "varied" && profileInEffect(next) !== "varied") return;
  for (const entry of keys.values()) {
    const plain = withoutGrantedScopes(sandbox, entry.key.scopes);
    sandbox.registry.change(entry, { scopes: withGrantedScopes(next, plain) });
  }
}

/** The assumed scope of `/me` must be one of the assumed scopes. */
function missingScopeProblem(next: Assumptions): string | undefined {
  const needed = next.me_scope;
  if (needed === null || next.scopes.includes(needed)) return undefined;
  return `is ${quote(needed)}, which is not one of scopes`;
}

/** Each scope that a key has must be one of them. */
function heldScopeProblem(sandbox: SandboxState, next: Assumptions): string | undefined {
  for (const { key } of sandbox.registry.keys.values()) {
    const ownScopes = withoutGrantedScopes(sandbox, key.scopes);
    const lacking = ownScopes.find((scope) => !next.scopes.includes(scope));
    if (lacking !== undefined) return `lack ${lacking}, which the key ${quote(key.ref)} has`;
  }
  return undefined;
}

/** No organization may have too many active keys (R32), even if retiring ones then count. */
function tooManyActiveProblem(sandbox: SandboxState, next: Assumptions, now: number): string | undefined {
  for (const owner of sandbox.registry.organizations.values()) {
    for (const environment of environments) {
      if (activeKeysIn(owner, environment, next, now) <= maximumActiveKeys) continue;
      return `would give ${owner.organization.ref} (${environment}) more than ${maximumActiveKeys} active keys (R32)`;
    }
  }
  return undefined;
}

/** The usage of a key after a change of the windows. Counts have no times: the requests so far count as if they were sent now. */
function carriedOver(usage: Usage, from: Windows, to: Windows, now: number): Usage {
  if (from.sliding === to.sliding && from.dayResetsAt === to.dayResetsAt) return usage;
  const current = usageAt(usage, from, now);
  return startUsage(to, now, {
    thisMinute: current.minuteCount,
    today: Math.max(current.minuteCount, current.dayCount),
    countedAt: from.sliding ? current.recent : undefined,
  });
}
