import type { FieldPath } from "../../schema/field-path.js";
import { quote } from "../../schema/words.js";
import {
  type ActionName,
  actionName,
  actionNames,
  actionRefs,
  actionRow,
  stepKind,
  stepKinds,
} from "../actions.js";
import { isReserved } from "../format/refs.js";
import { atStart, compareTimes, readTimeOrDuration, type TimeOrDuration } from "../format/when.js";
import type { Scenario } from "../scenario.generated.js";
import { checkOutcome } from "./outcome-rules.js";
import { checkRef } from "./ref-rules.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

type WrittenStep = NonNullable<Scenario["story"]>[number];
type Action = Pick<WrittenStep, ActionName>;

// Problems of single steps. Only a run shows whether a step has its expected result.

/** No step of the timeline is earlier than a step before it, or than the clock's start. */
const timelineIsInOrder: ScenarioRule = ({ scenario, start, addProblem }) => {
  // If the start is unknown, a step has an order only to the steps whose times are of its kind: we keep the latest of each kind.
  const latest: Partial<Record<TimeOrDuration["kind"], TimeOrDuration>> = { duration: atStart };
  for (const [index, { at }] of (scenario.timeline ?? []).entries()) {
    const time = readTimeOrDuration(at);
    const isEarlier = Object.values(latest).some(
      (earlier) => compareTimes(start, time, earlier) === "before",
    );
    if (isEarlier) {
      addProblem({
        code: "timeline_order",
        field: ["timeline", index, "at"],
        message: `the step is earlier (${at}) than the one before it, or the start of the clock`,
        hint: "write a later time, or sort the steps by time",
      });
      return;
    }
    latest[time.kind] = time;
  }
};

/** Each step does one thing, refers to something that exists or that a step creates, and has a possible expectation. */
const stepsArePossible: ScenarioRule = (input) => {
  const { timeline = [], story = [] } = input.scenario;
  const createdRefs = refsThatStepsCreate(input.scenario);

  for (const [index, step] of timeline.entries()) {
    const stepField = ["timeline", index];
    if (checkDoesOneThing(step, actionNames, stepField, input) === "several") continue;
    // In a snapshot, earlier changes may have made steps of the timeline impossible.
    if (!input.isSnapshot) checkAction(step, stepField, createdRefs, input);
  }

  for (const [index, step] of story.entries()) {
    const stepField = ["story", index];
    if (checkDoesOneThing(step, stepKinds, stepField, input) === "several") continue;
    checkAction(step, stepField, createdRefs, input);
    const sender = step.request?.key;
    if (!isReserved(sender)) checkKeyOfStep(sender, [...stepField, "request", "key"], createdRefs, input);
    checkExpectation(step, stepField, input);
  }
};

/** The refs of the keys that steps create; `any_ref` if a step creates a key without a ref: only a run shows which it gets. */
type CreatedRefs = ReadonlySet<string> | "any_ref";

function refsThatStepsCreate({ timeline = [], story = [] }: Scenario): CreatedRefs {
  const created = new Set<string>();
  for (const step of [...timeline, ...story]) {
    const name = actionName(step);
    if (name === undefined || actionRow(name).newKeyField === undefined) continue;
    const { newKey } = actionRefs(step);
    if (newKey === undefined) return "any_ref";
    created.add(newKey);
  }
  return created;
}

/** Adds a problem for the ref of a key that does not exist and that no step creates, be it an earlier or a later one. */
function checkKeyOfStep(
  ref: string | undefined,
  field: FieldPath,
  createdRefs: CreatedRefs,
  { refs, addProblem }: RuleInput,
): void {
  if (ref === undefined || createdRefs === "any_ref" || createdRefs.has(ref)) return;
  checkRef("key", ref, field, refs, addProblem);
}

/** Adds a problem for a step that does several things; the others are only checked in a step that does one. */
function checkDoesOneThing(
  step: object,
  kinds: readonly string[],
  stepField: FieldPath,
  { addProblem }: RuleInput,
): "one" | "several" {
  const [first, second] = Object.keys(step).filter((name) => kinds.includes(name));
  if (second === undefined) return "one";
  addProblem({
    code: "step_contradiction",
    field: [...stepField, second],
    pointAt: "name",
    message: `a step does one thing; this one has ${first} and ${second}`,
    hint: `split it into two steps, ${quote(first)} first`,
  });
  return "several";
}

/** Checks the refs of the key, the organization and the faults of an action. */
function checkAction(action: Action, stepField: FieldPath, createdRefs: CreatedRefs, input: RuleInput): void {
  const name = actionName(action);
  if (name === undefined) return;

  const { key, organization } = actionRefs(action);
  const { keyField, organizationField } = actionRow(name);
  if (organizationField !== undefined) {
    const field = [...stepField, name, organizationField];
    checkRef("organization", organization, field, input.refs, input.addProblem);
  }
  if (keyField !== undefined) checkKeyOfStep(key, [...stepField, name, keyField], createdRefs, input);

  for (const [index, { when }] of (action.faults ?? []).entries()) {
    checkKeyOfStep(when?.key, [...stepField, "faults", index, "when", "key"], createdRefs, input);
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

export const stepRules: readonly ScenarioRule[] = [timelineIsInOrder, stepsArePossible];
