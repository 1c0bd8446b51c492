import type { FieldPath } from "../../schema/shape.js";
import { quote } from "../../schema/words.js";
import { type ActionName, actionNames, actionRefs, actionRow, stepKind, stepKinds } from "../actions.js";
import { isReserved } from "../format/fields.js";
import type { FieldProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { type Facts, type ScenarioRule, timeSince } from "./facts.js";
import { checkOutcome } from "./fault-rules.js";
import { checkRef } from "./ref-rules.js";

type WrittenStep = NonNullable<Scenario["story"]>[number];
type Action = Pick<WrittenStep, ActionName>;

// Problems of single steps. Only a run shows whether a step has its expected result.

/** No step of the timeline is earlier than the one before it. */
const timelineIsInOrder: ScenarioRule = ({ scenario, start, addProblem }) => {
  const problem = earlyStep(scenario, start);
  if (problem !== undefined) addProblem(problem);
};

/**
 * The problem of the first step of a timeline that is earlier than the one before it, or than the clock's start; `undefined`
 * if none is. If the start is not known, a time fits anywhere.
 */
function earlyStep({ timeline = [] }: Scenario, start: number | undefined): FieldProblem | undefined {
  let timeBefore = 0;
  for (const [index, { at }] of timeline.entries()) {
    const time = timeSince(start, at);
    if (time === undefined) continue;
    if (time < timeBefore) {
      return {
        code: "timeline_order",
        field: ["timeline", index, "at"],
        message: `the step is earlier (${at}) than the one before it, or the start of the clock`,
        hint: "write a later time, or sort the steps by time",
      };
    }
    timeBefore = time;
  }
  return undefined;
}

/** Each step does one thing, refers to something that exists or that a step creates, and has a possible expectation. */
const stepsFit: ScenarioRule = (facts) => {
  const { timeline = [], story = [], requests_responded } = facts.scenario;

  // A step may use a key that any step creates. If one creates a key without a ref, only a run shows which.
  const createdRefs = new Set<string>();
  let createsAnyRef = false;
  for (const step of [...timeline, ...story]) {
    const { createsKey, newKey } = actionRefs(step);
    if (newKey !== undefined) createdRefs.add(newKey);
    else if (createsKey) createsAnyRef = true;
  }
  const checkKey: CheckKey = (ref, path) => {
    if (ref === undefined || createsAnyRef || createdRefs.has(ref)) return;
    checkRef("key", ref, path, facts);
  };

  for (const [index, step] of timeline.entries()) {
    const path = ["timeline", index];
    if (!checkOneThing(step, actionNames, path, facts)) continue;
    // In a snapshot, earlier changes may have made steps of the timeline impossible.
    if (requests_responded === undefined) checkAction(step, path, checkKey, facts);
  }

  for (const [index, step] of story.entries()) {
    const path = ["story", index];
    if (!checkOneThing(step, stepKinds, path, facts)) continue;
    checkAction(step, path, checkKey, facts);
    const sender = step.request?.key;
    if (!isReserved(sender)) checkKey(sender, [...path, "request", "key"]);
    checkExpectation(step, path, facts);
  }
};

/** Adds a problem for the ref of a key that no step creates and that does not exist. */
type CheckKey = (ref: string | undefined, path: FieldPath) => void;

/** Adds a problem for a step that does several things; returns whether it does one. */
function checkOneThing(step: object, things: readonly string[], path: FieldPath, facts: Facts): boolean {
  const [first, second] = Object.keys(step).filter((name) => things.includes(name));
  if (second === undefined) return true;
  facts.addProblem({
    code: "step_contradiction",
    field: [...path, second],
    pointAt: "key",
    message: `a step does one thing; this one has ${first} and ${second}`,
    hint: `split it into two steps, ${quote(first)} first`,
  });
  return false;
}

/** Checks the refs of the key, the organization and the faults of an action. */
function checkAction(action: Action, path: FieldPath, checkKey: CheckKey, facts: Facts): void {
  const { name, key, organization } = actionRefs(action);
  if (name === undefined) return;

  const row = actionRow(name);
  const fieldAt = (field = "") => [...path, name, field];
  checkRef("organization", organization, fieldAt(row.organization), facts);
  checkKey(key, fieldAt(row.key));
  for (const [index, { when }] of (action.faults ?? []).entries()) {
    checkKey(when?.key, [...path, "faults", index, "when", "key"]);
  }
}

/** Checks that a step expects only what its kind of step can result in. */
function checkExpectation(step: WrittenStep, path: FieldPath, facts: Facts): void {
  const { expect } = step;
  if (expect === undefined) return;
  checkOutcome(expect.outcome, [...path, "expect", "outcome"], facts);

  const kind = stepKind(step);
  let allowed: readonly string[] = [];
  if (kind === "request") allowed = ["status", "code", "outcome", "headers", "body"];
  else if ((actionNames as readonly string[]).includes(kind)) allowed = ["error"];
  const misplaced = Object.keys(expect).find((name) => !allowed.includes(name));
  if (misplaced === undefined) return;
  facts.addProblem({
    code: "step_contradiction",
    field: [...path, "expect", misplaced],
    pointAt: "key",
    message: `${quote(kind)} cannot expect ${quote(misplaced)}`,
    hint: `${quote(kind)} can expect ${allowed.join(", ") || "nothing"}`,
  });
}

export const stepRules: readonly ScenarioRule[] = [timelineIsInOrder, stepsFit];
