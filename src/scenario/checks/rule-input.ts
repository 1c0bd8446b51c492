import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { parseTime } from "../../rules/time.js";
import type { FieldPath } from "../../schema/field-path.js";
import type { StartTime } from "../format/when.js";
import { isPopulated, populatedNumbers } from "../keys/population.js";
import {
  allKeys,
  allOrganizations,
  listedKeys,
  populatedKeyAt,
  type ScenarioKey,
  type ScenarioOrganization,
} from "../keys/scenario-keys.js";
import type { AddProblem, ScenarioPlaces } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";

/** How the rules report problems, and what they need of the text for it. */
interface Reporting {
  readonly addProblem: AddProblem;
  readonly spelling: ScenarioPlaces["spelling"];
  /** Of the fields that contradict each other, the one to point at: the one that was written last. */
  readonly fieldToFix: (...fields: readonly [FieldPath, ...FieldPath[]]) => FieldPath;
}

/** What a rule gets: a scenario that has its shape, what several rules read from it, and how to report a problem. */
export interface RuleInput extends Reporting {
  readonly scenario: Scenario;
  /** Whether the scenario is the state of a sandbox that has responded to requests. */
  readonly isSnapshot: boolean;
  /** The organizations by ref, without the population's. */
  readonly organizations: ReadonlyMap<string, ScenarioOrganization>;
  /** All keys that the scenario lists, without the population's. */
  readonly keys: readonly ScenarioKey[];
  /** The same keys by ref. Of several keys with one ref, which is a problem, the first. */
  readonly keyByRef: ReadonlyMap<string, ScenarioKey>;
  readonly assumptions: Assumptions;
  /** The refs of keys and organizations, including the population's. */
  readonly refs: Readonly<Record<RefKind, KnownRefs>>;
  /** When the clock starts; a clock without `now` starts at the real time. */
  readonly start: StartTime;
}

export type RefKind = "key" | "organization";

/** The refs of one kind. A `Map` by ref is one. */
export interface KnownRefs {
  readonly has: (ref: string) => boolean;
  /** The refs that a hint lists: those of a population, which may be many, only if there are no others. */
  readonly keys: () => Iterable<string>;
}

/** Adds a problem for each part of a scenario that breaks it. */
export type ScenarioRule = (input: RuleInput) => void;

export function ruleInputOf(scenario: Scenario, reporting: Reporting): RuleInput {
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...listedKeys(scenario)];
  const keyByRef = new Map<string, ScenarioKey>();
  for (const key of keys) {
    if (!keyByRef.has(key.ref)) keyByRef.set(key.ref, key);
  }

  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const endpoints = writtenEndpoints(scenario).map(([, endpoint]) => endpoint);
  const now = scenario.clock?.now;
  return {
    scenario,
    isSnapshot: scenario.requests_responded !== undefined,
    organizations,
    keys,
    keyByRef,
    assumptions: resolveAssumptions(profile, ownAssumptions, endpoints),
    refs: { key: keyRefs(keyByRef, scenario), organization: organizationRefs(organizations, scenario) },
    start: (now === undefined ? undefined : parseTime(now)) ?? "unknown",
    ...reporting,
  };
}

function keyRefs(listed: ReadonlyMap<string, ScenarioKey>, scenario: Scenario): KnownRefs {
  return {
    has: (ref) => listed.has(ref) || populatedKeyAt(ref, scenario) !== undefined,
    *keys() {
      if (listed.size > 0) yield* listed.keys();
      else for (const { ref } of allKeys(scenario)) yield ref;
    },
  };
}

function organizationRefs(listed: ReadonlyMap<string, ScenarioOrganization>, scenario: Scenario): KnownRefs {
  return {
    has: (ref) => listed.has(ref) || isPopulatedOrganization(ref, scenario),
    *keys() {
      if (listed.size > 0) yield* listed.keys();
      else for (const [ref] of allOrganizations(scenario)) yield ref;
    },
  };
}

function isPopulatedOrganization(ref: string, { population }: Scenario): boolean {
  return populatedNumbers(ref)?.key === undefined && isPopulated(ref, population);
}
