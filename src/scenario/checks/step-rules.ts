import type { FieldPath } from "../../schema/shape.js";
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
import { isReserved } from "../format/fields.js";
import type { Scenario } from "../scenario.generated.js";
import { checkOutcome, checkRef, type RuleInput, type ScenarioRule } from "./rule-input.js";

type WrittenStep = NonNullable<Scenario["story"]>[number];

// Problems of single steps. Only a run shows whether a step has its expected result.

/** Each step does one thing, refers to something that exists or that a step creates, and has a possible expectation. */
export const stepsArePossible: ScenarioRule = (input) => {
  const { timeline = [], story = [] } = input.scenario;

  for (const [index, step] of timeline.entries()) {
    const stepField = ["timeline", index];
    if (checkDoesOneThing(step, actionNames, stepField, input) === "several") continue;
    checkAction(step, stepField, input);
  }

  for (const [index, step] of story.entries()) {
    const stepField = ["story", index];
    if (checkDoesOneThing(step, stepKinds, stepField, input) === "several") continue;
    checkAction(step, stepField, input);
    const sender = step.request?.key;
    if (!isReserved(sender)) {
      checkRef("key", sender, [...stepField, "request", "key"], input.refsInSteps, input.problems);
    }
    checkExpectation(step, stepField, input);
  }
};

/** Adds a problem for a step that does several things; the others are only checked in a step that does one. */
function checkDoesOneThing(
  step: object,
  kinds: readonly string[],
  stepField: FieldPath,
  { problems }: RuleInput,
): "one" | "several" {
  const [first, second] = Object.keys(step).filter((name) => kinds.includes(name));
  if (second === undefined) return "one";
  const message = `a step does one thing; this one has ${first} and ${second}`;
  const hint = `split it into two steps, ${quote(first)} first`;
  problems.add("step_contradiction", [...stepField, second], message, hint, "name");
  return "several";
}

/** Checks the refs of the key and the organization of an action. Those of its faults are checked with its faults (`fault-rules.ts`). */
function checkAction(
  action: Pick<WrittenStep, ActionName>,
  stepField: FieldPath,
  { refsInSteps, problems }: RuleInput,
): void {
  const name = actionName(action);
  if (name === undefined) return;

  const { key, organization } = actionRefs(action);
  const { keyField, organizationField } = actionRow(name);
  if (organizationField !== undefined) {
    checkRef("organization", organization, [...stepField, name, organizationField], refsInSteps, problems);
  }
  if (keyField !== undefined) checkRef("key", key, [...stepField, name, keyField], refsInSteps, problems);
}

/** Checks that a step expects only what its kind of step can result in. */
function checkExpectation(step: WrittenStep, stepField: FieldPath, input: RuleInput): void {
  const { expect } = step;
  if (expect === undefined) return;
  const { successes, problems } = input;
  checkOutcome(expect.outcome, [...stepField, "expect", "outcome"], successes, problems);

  const kind = stepKind(step);
  let allowed: readonly string[] = [];
  if (kind === "request") allowed = ["status", "code", "outcome", "headers", "body"];
  else if ((actionNames as readonly string[]).includes(kind)) allowed = ["error"];
  const misplaced = Object.keys(expect).find((name) => !allowed.includes(name));
  if (misplaced === undefined) return;
  const message = `${quote(kind)} cannot expect ${quote(misplaced)}`;
  const hint = `${quote(kind)} can expect ${allowed.join(", ") || "nothing"}`;
  problems.add("step_contradiction", [...stepField, "expect", misplaced], message, hint, "name");
}
