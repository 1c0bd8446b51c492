import { type FaultKind, faultEffects, faultKindsOf } from "../../rules/fault-effects.js";
import { type OutcomeId, outcomes } from "../../rules/outcomes.js";
import type { Problem } from "../../rules/schema/messages.js";
import type { FieldPath } from "../../rules/schema/shape.js";
import { nearest, quote } from "../../rules/schema/words.js";
import { parseDuration } from "../../rules/time.js";
import { writtenEndpoints } from "../endpoints.js";
import type { ScenarioProblemCode } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { checkRef, type Facts, type ScenarioRule, timeSince, wrongInto } from "./facts.js";

type FaultFields = NonNullable<Scenario["faults"]>[number];

interface FaultSandbox {
  readonly refs: Facts["refs"];
  readonly scenario: Pick<Scenario, "endpoints">;
  /** The start of durations (epoch milliseconds). */
  readonly now?: number | undefined;
}

export const faultsFit: ScenarioRule = (facts) => {
  const { scenario, refs, start, wrong } = facts;
  const { timeline = [], story = [] } = scenario;
  const sandbox = { refs, scenario, now: start, wrong };
  checkFaults(scenario.faults, [], sandbox);
  // `checks/steps.ts` checks the keys, because steps may create them.
  const inSteps = { ...sandbox, refs: { ...refs, key: { ...refs.key, has: () => true } } };
  for (const [index, { faults }] of timeline.entries()) checkFaults(faults, ["timeline", index], inSteps);
  for (const [index, { faults }] of story.entries()) checkFaults(faults, ["story", index], inSteps);
};

export function faultProblems(
  faults: readonly FaultFields[],
  sandbox: FaultSandbox,
): Problem<ScenarioProblemCode>[] {
  const problems: Problem<ScenarioProblemCode>[] = [];
  checkFaults(faults, [], { ...sandbox, wrong: wrongInto(problems) });
  return problems;
}

type Checking = FaultSandbox & Pick<Facts, "wrong">;

function checkFaults(faults: readonly FaultFields[] = [], path: FieldPath, checking: Checking): void {
  for (const [index, fault] of faults.entries()) {
    const at = [...path, "faults", index];
    checkRef("key", fault.when?.key, [...at, "when", "key"], checking);
    checkRef("organization", fault.when?.organization, [...at, "when", "organization"], checking);
    checkFault(fault, at, checking);
  }
}

/** An endpoint of the scenario has its own success. */
export function checkOutcome(
  outcome: OutcomeId | undefined,
  path: FieldPath,
  { scenario, wrong }: Pick<Checking, "scenario" | "wrong">,
): void {
  if (outcome === undefined) return;
  const successes = writtenEndpoints(scenario).map(([name, { status = 200 }]) => `${status}.${name}`);
  const outcomeIds = new Set<string>([...outcomes.map(({ id }) => id), ...successes]);
  if (outcomeIds.has(outcome)) return;
  const near = nearest(outcome, outcomeIds);
  const hint = near ? `did you mean ${near}?` : "the report of a sandbox lists its endpoints and outcomes";
  wrong("bad_choice", path, `the sandbox has no outcome ${quote(outcome)}`, hint);
}

const partsOfStatus = ["body", "retry_after"] as const;
type PartOfStatus = (typeof partsOfStatus)[number];
type Effect = FaultKind | PartOfStatus;

function fitTogether(one: Effect, other: Effect): boolean {
  const isPart = (effect: Effect): effect is PartOfStatus =>
    (partsOfStatus as readonly Effect[]).includes(effect);
  if (isPart(one)) return other === "status" || isPart(other) || fitTogether("status", other);
  if (isPart(other)) return fitTogether(other, one);
  return (faultEffects[one].fits as readonly string[]).includes(other);
}

function checkFault({ when = {}, then = {} }: FaultFields, path: FieldPath, checking: Checking): void {
  const { now, wrong } = checking;
  const contradiction = (at: FieldPath, message: string, hint: string) =>
    wrong("fault_contradiction", [...path, ...at], message, hint);
  const { outcome, after, until } = when;
  checkOutcome(outcome, [...path, "when", "outcome"], checking);
  const [from, end] = [timeSince(now, after), timeSince(now, until)];
  if (from !== undefined && end !== undefined && end <= from) {
    const message = `the fault must end after it starts (${after}), not ${until}`;
    contradiction(["when", "until"], message, "write a later time, or remove one of the two");
  }
  const { latency } = then;
  const bounds = typeof latency === "object" ? (latency as Readonly<Record<string, string>>) : {};
  const [min, max] = "median" in bounds ? (["median", "p99"] as const) : (["min", "max"] as const);
  const { [min]: low = "", [max]: high = "" } = bounds;
  if ((parseDuration(low) ?? 0) > (parseDuration(high) ?? 0)) {
    const message = `${max} is ${high}, less than ${min}, which is ${low}`;
    contradiction(["then", "latency", max], message, "swap the two");
  }
  const parts = partsOfStatus.filter((name) => then[name] !== undefined);
  const effects: readonly Effect[] = [...faultKindsOf(then), ...parts];
  for (const [index, second] of effects.entries()) {
    const first = effects.slice(0, index).find((one) => !fitTogether(one, second));
    if (first === undefined) continue;
    const message = `a response cannot have both ${first} and ${second}`;
    contradiction(["then", second], message, "remove one of the two, or add a second fault");
    return;
  }
}
