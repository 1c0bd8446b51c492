import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { parseTime } from "../../rules/time.js";
import type { StartTime } from "../format/when.js";
import { listedKeys, populatedKeyAt, type ScenarioKey } from "../keys/scenario-keys.js";
import { ProblemList, type ScenarioPlaces } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";
import { type KnownRefs, refsAtStart, refsInSteps } from "./known-refs.js";
import { type EndpointSuccesses, successesOf } from "./outcome-rules.js";

/** What a rule gets: a scenario that has its shape, what several rules read from it, and where problems go. */
export interface RuleInput {
  readonly scenario: Scenario;
  /** Whether the scenario is the state of a sandbox that has responded to requests. */
  readonly isSnapshot: boolean;
  /** All keys that the scenario lists, without the population's. */
  readonly keys: readonly ScenarioKey[];
  /** Finds a key by its ref, also one of the population. Of several listed keys with one ref, which is a problem, the first. */
  readonly keyOf: (ref: string) => ScenarioKey | undefined;
  readonly refs: KnownRefs;
  readonly refsInSteps: KnownRefs;
  readonly successes: EndpointSuccesses;
  readonly assumptions: Assumptions;
  readonly clockStart: StartTime;
  readonly spelling: ScenarioPlaces["spelling"];
  readonly problems: ProblemList;
}

/** Adds a problem for each part of a scenario that breaks it. */
export type ScenarioRule = (input: RuleInput) => void;

export function ruleInputOf(scenario: Scenario, spelling: ScenarioPlaces["spelling"]): RuleInput {
  const keys = [...listedKeys(scenario)];
  const keyByRef = new Map<string, ScenarioKey>();
  for (const key of keys) {
    if (!keyByRef.has(key.ref)) keyByRef.set(key.ref, key);
  }
  const keyOf = (ref: string) => keyByRef.get(ref) ?? populatedKeyAt(ref, scenario);
  const refs = refsAtStart(scenario, keyOf);

  return {
    scenario,
    isSnapshot: scenario.requests_responded !== undefined,
    keys,
    keyOf,
    refs,
    refsInSteps: refsInSteps(scenario, refs),
    successes: successesOf(scenario),
    assumptions: assumptionsOf(scenario),
    clockStart: clockStartOf(scenario),
    spelling,
    problems: new ProblemList(),
  };
}

/** The assumptions of a scenario. A scope that an endpoint requires is also one of the assumed `scopes`: those that a key may have. */
export function assumptionsOf(scenario: Scenario): Assumptions {
  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const endpoints = writtenEndpoints(scenario).map(([, endpoint]) => endpoint);
  return resolveAssumptions(profile, ownAssumptions, endpoints);
}

function clockStartOf({ clock }: Scenario): StartTime {
  // Such a clock starts at the real time, which only a run shows.
  if (clock?.now === undefined) return "unknown";
  return parseTime(clock.now) ?? "unknown";
}
