import type { FieldPath } from "../../schema/field-path.js";
import { quote } from "../../schema/words.js";
import { type ActionName, actionNames, actionRefs, actionRow, stepKind, stepKinds } from "../actions.js";
import { isReserved } from "../format/refs.js";
import { durationFrom } from "../format/when.js";
import type { Scenario } from "../scenario.generated.js";
import { checkOutcome } from "./outcome-rules.js";
import { checkRef } from "./ref-rules.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

type WrittenStep = NonNullable<Scenario["story"]>[number];
type Action = Pick<WrittenStep, ActionName>;

// Problems of single steps. Only a run shows whether a step has its expected result.

/** No step of the timeline is earlier than a step before it, or than the clock's start. */
const timelineIsInOrder: ScenarioRule = ({ scenario, start, addProblem }) => {
  // If the clock may start at any time, times are in order among themselves, and so are durations.
  const latest = { duration: 0, time: Number.NEGATIVE_INFINITY };
  for (const [index, { at }] of (scenario.timeline ?? []).entries()) {
    const { kind, milliseconds } = durationFrom(start, at);
    if (milliseconds < latest[kind]) {
      addProblem({
        code: "timeline_order",
        field: ["timeline", index, "at"],
        message: `the step is earlier (${at}) than the one before it, or the start of the clock`,
        hint: "write a later time, or sort the steps by time",
      });
      return;
    }
    latest[kind] = milliseconds;
  }
};

/** Each step does one thing, refers to something that exists or that a step creates, and has a possible expectation. */
const stepsFit: ScenarioRule = (input) => {
  const { timeline = [], story = [] } = input.scenario;
  const keysOfSteps = findKeysOfSteps(input.scenario);

  for (const [index, step] of timeline.entries()) {
    const stepField = ["timeline", index];
    if (!hasOneAction(step, actionNames, stepField, input)) continue;
    // In a snapshot, earlier changes may have made steps of the timeline impossible.
    if (!input.isSnapshot) checkAction(step, stepField, keysOfSteps, input);
  }

  for (const [index, step] of story.entries()) {
    const stepField = ["story", index];
    if (!hasOneAction(step, stepKinds, stepField, input)) continue;
    checkAction(step, stepField, keysOfSteps, input);
    const sender = step.request?.key;
    if (!isReserved(sender)) checkKeyOfStep(sender, [...stepField, "request", "key"], keysOfSteps, input);
    checkExpectation(step, stepField, input);
  }
};

/** The refs of the keys that steps create; `unknown` if a step creates a key without a ref: only a run shows which it gets. */
type KeysOfSteps = ReadonlySet<string> | "unknown";

function findKeysOfSteps({ timeline = [], story = [] }: Scenario): KeysOfSteps {
  const created = new Set<string>();
  for (const step of [...timeline, ...story]) {
    const { createsKey, newKey } = actionRefs(step);
    if (newKey !== undefined) created.add(newKey);
    else if (createsKey) return "unknown";
  }
  return created;
}

/** Adds a problem for the ref of a key that does not exist and that no step creates, be it an earlier or a later one. */
function checkKeyOfStep(
  ref: string | undefined,
  field: FieldPath,
  keysOfSteps: KeysOfSteps,
  { refs, addProblem }: RuleInput,
): void {
  if (ref === undefined || keysOfSteps === "unknown" || keysOfSteps.has(ref)) return;
  checkRef("key", ref, field, refs, addProblem);
}

/** Whether a step does only one thing; adds a problem for one that does several. */
function hasOneAction(
  step: object,
  things: readonly string[],
  stepField: FieldPath,
  input: RuleInput,
): boolean {
  const [first, second] = Object.keys(step).filter((name) => things.includes(name));
  if (second === undefined) return true;
  input.addProblem({
    code: "step_contradiction",
    field: [...stepField, second],
    pointAt: "name",
    message: `a step does one thing; this one has ${first} and ${second}`,
    hint: `split it into two steps, ${quote(first)} first`,
  });
  return false;
}

/** Checks the refs of the key, the organization and the faults of an action. */
function checkAction(action: Action, stepField: FieldPath, keysOfSteps: KeysOfSteps, input: RuleInput): void {
  const { name, key, organization } = actionRefs(action);
  if (name === undefined) return;

  // The names of the fields that have these refs, if the action has such fields: `key` in `revoke: { key: main }`.
  const { key: keyField = "", organization: organizationField = "" } = actionRow(name);
  const { refs, addProblem } = input;
  checkRef("organization", organization, [...stepField, name, organizationField], refs, addProblem);
  checkKeyOfStep(key, [...stepField, name, keyField], keysOfSteps, input);
  for (const [index, { when }] of (action.faults ?? []).entries()) {
    checkKeyOfStep(when?.key, [...stepField, "faults", index, "when", "key"], keysOfSteps, input);
  }
}

/** Checks that a step expects only what its kind of step can result in. */
function checkExpectation(step: WrittenStep, stepField: FieldPath, input: RuleInput): void {
  const { expect } = step;
  if (expect === undefined) return;
  const { scenario, addProblem } = input;
  checkOutcome(expect.outcome, [...stepField, "expect", "outcome"], scenario.endpoints, addProblem);

  const kind = stepKind(step);
  let allowed: readonly string[] = [];
  if (kind === "request") allowed = ["status", "code", "outcome", "headers", "body"];
  else if ((actionNames as readonly string[]).includes(kind)) allowed = ["error"];
  const misplaced = Object.keys(expect).find((name) => !allowed.includes(name));
  if (misplaced === undefined) return;
  addProblem({
    code: "step_contradiction",
    field: [...stepField, "expect", misplaced],
    pointAt: "name",
    message: `${quote(kind)} cannot expect ${quote(misplaced)}`,
    hint: `${quote(kind)} can expect ${allowed.join(", ") || "nothing"}`,
  });
}

export const stepRules: readonly ScenarioRule[] = [timelineIsInOrder, stepsFit];
