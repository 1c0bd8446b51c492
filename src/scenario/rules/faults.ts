import { outcomeOf } from "../../domain/outcomes.js";
import type { Path } from "../../schema/shape.js";
import { listed, quote } from "../../schema/words.js";
import { parseDuration } from "../format/time.js";
import type { Diagnostic } from "../problems/scenario-error.js";
import type { Scenario } from "../scenario.generated.js";
import { between, checkRef, type Facts, type RefChecking, type ScenarioRule, type Wrong } from "./facts.js";

/** A fault as scenarios write it. */
export type FaultFields = NonNullable<Scenario["faults"]>[number];

/** The world that faults are for. */
export interface FaultWorld {
  readonly refs: Facts["refs"];
  /** Whether there is a preview of the announced endpoints. */
  readonly preview: boolean;
  /** The time from which durations count, in ISO 8601. */
  readonly now?: string | undefined;
}

/** Every fault of a scenario, also of its timeline and story, fits together and into the scenario. */
export const faultsFit: ScenarioRule = (facts) => {
  const { scenario, refs, wrong } = facts;
  const { preview = false, clock, timeline = [], story = [] } = scenario;
  const world = { refs, preview, now: clock?.now, scenario, wrong };
  checkFaults(scenario.faults, [], world);
  // `rules/steps.ts` looks at the keys: steps may make them.
  const inSteps = { ...world, refs: { ...refs, key: { ...refs.key, has: () => true } } };
  for (const [index, { faults }] of timeline.entries()) checkFaults(faults, ["timeline", index], inSteps);
  for (const [index, { faults }] of story.entries()) checkFaults(faults, ["story", index], inSteps);
};

/** Returns what is wrong with well-shaped faults that are to be set in a world. */
export function faultProblems(faults: readonly FaultFields[], world: FaultWorld): Diagnostic[] {
  const found: Diagnostic[] = [];
  const wrong: Wrong = (code, path, message, hint) => found.push({ code, path, message, hint });
  checkFaults(faults, [], { ...world, scenario: {}, wrong });
  return found;
}

type Checking = FaultWorld & RefChecking;

function checkFaults(faults: readonly FaultFields[] = [], path: Path, checking: Checking): void {
  for (const [index, fault] of faults.entries()) {
    const at = [...path, "faults", index];
    checkRef("key", fault.when?.key, [...at, "when", "key"], checking);
    checkRef("organization", fault.when?.organization, [...at, "when", "organization"], checking);
    checkFault(fault, at, checking);
  }
}

const effects = ["status", "reset", "hang", "truncate", "malformed", "slow"] as const;
type Effect = (typeof effects)[number];

// What can happen to one answer, beside a latency.
const fitting: readonly (readonly Effect[])[] = [
  ["status", "truncate", "slow"],
  ["malformed", "slow"],
  ["reset"],
  ["hang"],
];

function checkFault(
  { when = {}, then = {} }: FaultFields,
  path: Path,
  { preview, now, wrong }: Checking,
): void {
  const contradiction = (at: Path, message: string, hint: string) =>
    wrong("fault_contradiction", [...path, ...at], message, hint);
  const { path_id: pathId, after, until } = when;
  if (pathId !== undefined && !preview && outcomeOf(pathId).preview === true) {
    const message = `no request ends on ${quote(pathId)} without the preview of the announced endpoints`;
    wrong("preview_off", [...path, "when", "path_id"], message, "write preview: true at the top level");
  }
  const lasts = after === undefined ? undefined : between(after, until, now);
  if (lasts !== undefined && lasts <= 0) {
    const message = `the fault would end (${until}) no later than it begins (${after})`;
    contradiction(["when", "until"], message, "write a later time, or leave one of the two out");
  }
  const { latency } = then;
  if (typeof latency === "object" && (parseDuration(latency.min) ?? 0) > (parseDuration(latency.max) ?? 0)) {
    const message = `max is ${latency.max}, less than min, which is ${latency.min}`;
    contradiction(["then", "latency", "max"], message, "exchange the two");
  }
  const chosen = effects.filter((name) => then[name] !== undefined && then[name] !== false);
  if (then.body !== undefined && then.status === undefined) {
    contradiction(["then", "body"], "body goes with a status, and there is none", "add status: 502");
  } else if (chosen.length === 0 && latency === undefined) {
    const hint = `give it one of ${listed(["latency", ...effects], "or")}`;
    wrong("missing_field", [...path, "then"], "then says nothing that would happen", hint);
  } else if (chosen.includes("hang") && latency !== undefined) {
    const message = "a request that hangs has no answer to wait for";
    contradiction(["then", "latency"], message, "remove one of the two");
  } else if (!fitting.some((together) => chosen.every((name) => together.includes(name)))) {
    const [first, ...others] = chosen as [Effect, ...Effect[]];
    const second = others.find((name) => !fitting.some((one) => one.includes(name) && one.includes(first)));
    const message = `${first} and ${second} cannot both happen to one answer`;
    contradiction(["then", second ?? first], message, "remove one of the two, or write a second fault");
  }
}
