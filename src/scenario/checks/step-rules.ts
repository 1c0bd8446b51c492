import { type ActionName, actionNames, actionRow, kindOf, refsIn, stepKinds } from "../../rules/actions.js";
import type { FieldPath } from "../../rules/schema/shape.js";
import { quote } from "../../rules/schema/words.js";
import { isReserved } from "../format/fields.js";
import type { Scenario } from "../scenario.generated.js";
import type { Facts, ScenarioRule } from "./facts.js";
import { checkOutcome } from "./fault-rules.js";
import { checkRef } from "./ref-rules.js";

type WrittenStep = NonNullable<Scenario["story"]>[number];
type Action = Pick<WrittenStep, ActionName>;

// Problems of single steps. Only a run shows whether a step has its expected result.

const timelineIsInOrder: ScenarioRule = (facts) => {
  let latest = 0;
  for (const [index, { at }] of (facts.scenario.timeline ?? []).entries()) {
    const time = facts.fromStart(at);
    // A time that depends on the real time fits anywhere.
    if (time === undefined) continue;
    if (time < latest) {
      const field = ["timeline", index, "at"];
      const message = `the step is earlier (${at}) than the one before it, or the start of the clock`;
      const hint = "write a later time, or sort the steps by time";
      facts.addProblem({ code: "timeline_order", field, message, hint });
      return;
    }
    latest = time;
  }
};

/** Each step does one thing, refers to something that exists or that a step creates, and has a possible expectation. */
const stepsFit: ScenarioRule = (facts) => {
  const { timeline = [], story = [], requests_responded } = facts.scenario;
  const createdRefs = new Set<string | undefined>();
  for (const step of [...timeline, ...story]) {
    const { createsKey, newKey } = refsIn(step);
    if (createsKey) createdRefs.add(newKey);
  }
  const keyExists: KeyExists = (ref, path) => {
    // A step may create a key without a ref; only a run shows its ref.
    if (!createdRefs.has(undefined) && !createdRefs.has(ref)) checkRef("key", ref, path, facts);
  };

  for (const [index, step] of timeline.entries()) {
    const path = ["timeline", index];
    const doesOne = doesOneThing(step, actionNames, path, facts);
    // In a snapshot, earlier changes may have made steps of the timeline impossible.
    if (doesOne && requests_responded === undefined) actionFits(step, path, keyExists, facts);
  }

  for (const [index, step] of story.entries()) {
    const path = ["story", index];
    if (!doesOneThing(step, stepKinds, path, facts)) continue;
    actionFits(step, path, keyExists, facts);
    const sender = step.request?.key;
    if (!isReserved(sender)) keyExists(sender, [...path, "request", "key"]);
    expectationFits(step, path, facts);
  }
};

type KeyExists = (ref: string | undefined, path: FieldPath) => void;

function doesOneThing(step: object, things: readonly string[], path: FieldPath, facts: Facts): boolean {
  const [first, second] = Object.keys(step).filter((name) => things.includes(name));
  if (second === undefined) return true;
  const message = `a step does one thing; this one has ${first} and ${second}`;
  const hint = `split it into two steps, ${quote(first)} first`;
  facts.addProblem({ code: "step_contradiction", field: [...path, second], message, hint, pointAt: "key" });
  return false;
}

function actionFits(action: Action, path: FieldPath, keyExists: KeyExists, facts: Facts): void {
  const { name, key, organization } = refsIn(action);
  if (name === undefined) return;

  const row = actionRow(name);
  const fieldAt = (field = "") => [...path, name, field];
  checkRef("organization", organization, fieldAt(row.organization), facts);
  keyExists(key, fieldAt(row.key));
  for (const [index, { when }] of (action.faults ?? []).entries()) {
    keyExists(when?.key, [...path, "faults", index, "when", "key"]);
  }
}

function expectationFits(step: WrittenStep, path: FieldPath, facts: Facts): void {
  const { expect } = step;
  if (expect === undefined) return;
  checkOutcome(expect.outcome, [...path, "expect", "outcome"], facts);

  const kind = kindOf(step);
  let allowed: readonly string[] = [];
  if (kind === "request") allowed = ["status", "code", "outcome", "headers", "body"];
  else if ((actionNames as readonly string[]).includes(kind)) allowed = ["error"];
  const misplaced = Object.keys(expect).find((name) => !allowed.includes(name));
  if (misplaced === undefined) return;

  const field = [...path, "expect", misplaced];
  const message = `${quote(kind)} cannot expect ${quote(misplaced)}`;
  const hint = `${quote(kind)} can expect ${allowed.join(", ") || "nothing"}`;
  facts.addProblem({ code: "step_contradiction", field, message, hint, pointAt: "key" });
}

export const stepRules: readonly ScenarioRule[] = [timelineIsInOrder, stepsFit];
