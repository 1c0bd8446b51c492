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

const timelineIsInOrder: ScenarioRule = ({ scenario, fromStart, addProblem }) => {
  const times = (scenario.timeline ?? []).map(({ at }) => at);
  let latest = 0;
  const index = times.findIndex((text) => {
    const before = latest;
    // A time that depends on the real time fits anywhere.
    latest = fromStart(text) ?? latest;
    return latest < before;
  });
  if (index < 0) return;
  const message = `the step is earlier (${times[index]}) than the one before it, or the start of the clock`;
  const hint = "write a later time, or sort the steps by time";
  addProblem({ code: "timeline_order", field: ["timeline", index, "at"], message, hint });
};

/** Each step does one thing, refers to something that exists or that a step creates, and has a possible expectation. */
const stepsFit: ScenarioRule = (facts) => {
  const { timeline = [], story = [], requests_responded: responded } = facts.scenario;
  const newRefs = new Set(
    [...timeline, ...story].map(refsIn).flatMap(({ createsKey, newKey }) => (createsKey ? [newKey] : [])),
  );
  const keyExists: KeyExists = (ref, path) => {
    // A step may create a key without a ref; only a run shows its ref.
    if (!newRefs.has(undefined) && !newRefs.has(ref)) checkRef("key", ref, path, facts);
  };
  for (const [index, step] of timeline.entries()) {
    const path = ["timeline", index];
    const doesOne = doesOneThing(step, actionNames, path, facts);
    // In a snapshot, earlier changes may have made steps of the timeline impossible.
    if (doesOne && responded === undefined) actionFits(step, path, keyExists, facts);
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

function doesOneThing(
  step: object,
  things: readonly string[],
  path: FieldPath,
  { addProblem }: Facts,
): boolean {
  const [first, second] = Object.keys(step).filter((name) => things.includes(name));
  if (second === undefined) return true;
  const message = `a step does one thing; this one has ${first} and ${second}`;
  const hint = `split it into two steps, ${quote(first)} first`;
  addProblem({ code: "step_contradiction", field: [...path, second], message, hint, pointAt: "key" });
  return false;
}

function actionFits(action: Action, path: FieldPath, keyExists: KeyExists, facts: Facts): void {
  const { faults = [] } = action;
  const { name, key, organization } = refsIn(action);
  if (name === undefined) return;
  const row = actionRow(name);
  const at = (field = "") => [...path, name, field];
  checkRef("organization", organization, at(row.organization), facts);
  keyExists(key, at(row.key));
  for (const [index, { when }] of faults.entries()) {
    keyExists(when?.key, [...path, "faults", index, "when", "key"]);
  }
}

function expectationFits(
  { expect, ...step }: WrittenStep,
  path: FieldPath,
  { scenario, addProblem }: Facts,
): void {
  if (expect === undefined) return;
  checkOutcome(expect.outcome, [...path, "expect", "outcome"], { scenario, addProblem });
  const kind = kindOf(step);
  const isAction = (actionNames as readonly string[]).includes(kind);
  const ofRequests = ["status", "code", "outcome", "headers", "body"];
  const allowed = kind === "request" ? ofRequests : isAction ? ["error"] : [];
  const misplaced = Object.keys(expect).find((name) => !allowed.includes(name));
  if (misplaced === undefined) return;
  const message = `${quote(kind)} cannot expect ${quote(misplaced)}`;
  const hint = `${quote(kind)} can expect ${allowed.join(", ") || "nothing"}`;
  const field = [...path, "expect", misplaced];
  addProblem({ code: "step_contradiction", field, message, hint, pointAt: "key" });
}

export const stepRules: readonly ScenarioRule[] = [timelineIsInOrder, stepsFit];
