import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { parseTime } from "../../rules/time.js";
import type { FieldPath } from "../../schema/field-path.js";
import type { SourceTextAt } from "../../schema/problem.js";
import type { KnownMoment } from "../format/when.js";
import { isPopulated, populationOf } from "../keys/population.js";
import {
  allKeys,
  allOrganizations,
  listedKeys,
  populatedKeyAt,
  type ScenarioKey,
  type ScenarioOrganization,
} from "../keys/scenario-keys.js";
import type { AddProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";

/** How the rules report problems, and what they need of the text for it. */
interface Reporting {
  readonly addProblem: AddProblem;
  readonly spelling: SourceTextAt;
  /** Of the fields that contradict each other, the one to point at: the one that was written last. */
  readonly fieldToFix: (...fields: readonly [FieldPath, ...FieldPath[]]) => FieldPath;
}

/** What the rules know of a scenario that has its shape. */
export interface Facts extends Reporting {
  readonly scenario: Scenario;
  /** The organizations by ref, without the population's. */
  readonly organizations: ReadonlyMap<string, ScenarioOrganization>;
  /** All keys that the scenario lists, without the population's. */
  readonly keys: readonly ScenarioKey[];
  /** The first key with each ref. */
  readonly keyByRef: ReadonlyMap<string, ScenarioKey>;
  readonly assumptions: Assumptions;
  /** The refs of keys and organizations, including the population's. */
  readonly refs: Readonly<Record<RefKind, KnownRefs>>;
  /** The clock's start; `unknown` if it starts at the real time. */
  readonly start: KnownMoment;
}

export type RefKind = "key" | "organization";

/** The refs of one kind, to look up, and to list for a hint. A `Map` by ref is one. */
export interface KnownRefs {
  readonly has: (ref: string) => boolean;
  /** How many `keys` lists. */
  readonly size: number;
  readonly keys: () => Iterable<string>;
}

/** Adds a problem for each part of a scenario that breaks it. */
export type ScenarioRule = (facts: Facts) => void;

export function factsOf(scenario: Scenario, reporting: Reporting): Facts {
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...listedKeys(scenario)];
  const keyByRef = new Map<string, ScenarioKey>();
  for (const key of keys) {
    if (!keyByRef.has(key.ref)) keyByRef.set(key.ref, key);
  }

  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const endpoints = writtenEndpoints(scenario).map(([, endpoint]) => endpoint);
  const assumptions = resolveAssumptions(profile, ownAssumptions, endpoints);

  const refs = { key: keyRefs(keyByRef, scenario), organization: organizationRefs(organizations, scenario) };
  const now = scenario.clock?.now;
  const start = (now === undefined ? undefined : parseTime(now)) ?? "unknown";
  return { scenario, organizations, keys, keyByRef, assumptions, refs, start, ...reporting };
}

// Hints list the refs of a population, which may be many, only if there are no others.

function keyRefs(listed: ReadonlyMap<string, ScenarioKey>, scenario: Scenario): KnownRefs {
  const has = (ref: string) => listed.has(ref) || populatedKeyAt(ref, scenario) !== undefined;
  if (listed.size > 0) return { has, size: listed.size, keys: () => listed.keys() };
  const { organizations, keysEach } = populationOf(scenario);
  return {
    has,
    size: organizations * keysEach,
    *keys() {
      for (const { ref } of allKeys(scenario)) yield ref;
    },
  };
}

function organizationRefs(listed: ReadonlyMap<string, ScenarioOrganization>, scenario: Scenario): KnownRefs {
  // A key of a population has `-key-` in its ref, as in `organization-1-key-1`.
  const isPopulatedOrganization = (ref: string) =>
    !ref.includes("-key-") && isPopulated(ref, scenario.population);
  const has = (ref: string) => listed.has(ref) || isPopulatedOrganization(ref);
  if (listed.size > 0) return { has, size: listed.size, keys: () => listed.keys() };
  return {
    has,
    size: populationOf(scenario).organizations,
    *keys() {
      for (const [ref] of allOrganizations(scenario)) yield ref;
    },
  };
}
