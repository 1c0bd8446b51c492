import { outcomeOf } from "../../spec/outcomes.js";
import type { Path } from "../../spec/schema/shape.js";
import { listed, quote } from "../../spec/schema/words.js";
import { parseDuration } from "../format/time.js";
import type { Diagnostic } from "../problems/scenario-error.js";
import type { Scenario } from "../scenario.generated.js";
import { between, checkRef, type Facts, type RefChecking, type ScenarioRule, type Wrong } from "./facts.js";

export type FaultFields = NonNullable<Scenario["faults"]>[number];

/** The facts of the sandbox that faults refer to. */
export interface FaultWorld {
  readonly refs: Facts["refs"];
  /** Whether the preview of the announced endpoints is on. */
  readonly preview: boolean;
  /** The start of durations, in ISO 8601. */
  readonly now?: string | undefined;
}

/** Every fault, also in the timeline and the story, is consistent and fits the scenario. */
export const faultsFit: ScenarioRule = (facts) => {
  const { scenario, refs, wrong } = facts;
  const { preview = false, clock, timeline = [], story = [] } = scenario;
  const world = { refs, preview, now: clock?.now, scenario, wrong };
  checkFaults(scenario.faults, [], world);
  // `rules/steps.ts` checks the keys, because steps may create them.
  const inSteps = { ...world, refs: { ...refs, key: { ...refs.key, has: () => true } } };
  for (const [index, { faults }] of timeline.entries()) checkFaults(faults, ["timeline", index], inSteps);
  for (const [index, { faults }] of story.entries()) checkFaults(faults, ["story", index], inSteps);
};

/** Returns the problems of well-shaped faults in a sandbox. */
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

// The effects that a response can have together, besides a latency.
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
    const message = `${quote(pathId)} needs the preview of the announced endpoints`;
    wrong("preview_off", [...path, "when", "path_id"], message, "write preview: true at the top level");
  }
  const lasts = after === undefined ? undefined : between(after, until, now);
  if (lasts !== undefined && lasts <= 0) {
    const message = `the fault must end after it starts (${after}), not ${until}`;
    contradiction(["when", "until"], message, "write a later time, or remove one of the two");
  }
  const { latency } = then;
  if (typeof latency === "object" && (parseDuration(latency.min) ?? 0) > (parseDuration(latency.max) ?? 0)) {
    const message = `max is ${latency.max}, less than min, which is ${latency.min}`;
    contradiction(["then", "latency", "max"], message, "swap the two");
  }
  const chosen = effects.filter((name) => then[name] !== undefined && then[name] !== false);
  if (then.body !== undefined && then.status === undefined) {
    contradiction(["then", "body"], "body needs a status", "add status: 502");
  } else if (chosen.length === 0 && latency === undefined) {
    const hint = `add one of ${listed(["latency", ...effects], "or")}`;
    wrong("missing_field", [...path, "then"], "then has no effect", hint);
  } else if (chosen.includes("hang") && latency !== undefined) {
    const message = "a request that hangs has no response to delay";
    contradiction(["then", "latency"], message, "remove one of the two");
  } else if (!fitting.some((together) => chosen.every((name) => together.includes(name)))) {
    const [first, ...others] = chosen as [Effect, ...Effect[]];
    const second = others.find((name) => !fitting.some((one) => one.includes(name) && one.includes(first)));
    const message = `a response cannot have both ${first} and ${second}`;
    contradiction(["then", second ?? first], message, "remove one of the two, or add a second fault");
  }
}
