import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { parseTime } from "../../rules/time.js";
import type { Spelling } from "../../schema/problem.js";
import type { FieldPath } from "../../schema/shape.js";
import { type ScenarioKey, type ScenarioOrganization, writtenKeys } from "../described-keys.js";
import { parseWhen } from "../format/when.js";
import { isPopulated } from "../population.js";
import type { AddProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";

/** What the rules need of the text that a scenario is from, and where their problems go. */
interface ScenarioText {
  readonly addProblem: AddProblem;
  readonly spelling: Spelling;
  /**
   * Of the fields that contradict each other, the one to point at: the first that the scenario itself has. If it has
   * none, the first of the nearest scenario that it extends.
   */
  readonly fieldToFix: (...paths: readonly [FieldPath, ...FieldPath[]]) => FieldPath;
}

/** What the rules know of a scenario that has its shape. */
export interface Facts extends ScenarioText {
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
  /** The clock's start (epoch milliseconds); `undefined` if it starts at the real time. */
  readonly start: number | undefined;
  /** Milliseconds from the clock's start to a time or a duration; `undefined` without one, and if the start is not known. */
  readonly fromStart: (text: string | undefined) => number | undefined;
}

/** Refs to look up, and to list for a hint. */
interface KnownRefs {
  readonly has: (ref: string) => boolean;
  /** How many `keys` lists: those of the population, which may be many, are not. */
  readonly size: number;
  readonly keys: () => Iterable<string>;
}

type RefKind = "key" | "organization";

/** Adds a problem for each part of a scenario that breaks it. */
export type ScenarioRule = (facts: Facts) => void;

export function factsOf(scenario: Scenario, text: ScenarioText): Facts {
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...writtenKeys(scenario)];
  const keyByRef = new Map<string, ScenarioKey>();
  for (const key of keys) {
    if (!keyByRef.has(key.ref)) keyByRef.set(key.ref, key);
  }

  // Of the population's refs, `organization-1` and `organization-1-key-1`, only a key's has `-key-`.
  const isPopulatedKey = (ref: string) => ref.includes("-key-") && isPopulated(ref, scenario.population);
  const isPopulatedOrganization = (ref: string) =>
    !ref.includes("-key-") && isPopulated(ref, scenario.population);
  const refs = {
    key: addPopulation(keyByRef, isPopulatedKey),
    organization: addPopulation(organizations, isPopulatedOrganization),
  };

  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const endpoints = writtenEndpoints(scenario).map(([, endpoint]) => endpoint);
  const assumptions = resolveAssumptions(profile, ownAssumptions, endpoints);

  const start = parseTime(scenario.clock?.now ?? "");
  const fromStart: Facts["fromStart"] = (time) => timeSince(start, time);
  return { scenario, organizations, keys, keyByRef, assumptions, refs, start, fromStart, ...text };
}

function addPopulation(
  listed: ReadonlyMap<string, unknown>,
  isPopulatedRef: (ref: string) => boolean,
): KnownRefs {
  const has = (ref: string) => listed.has(ref) || isPopulatedRef(ref);
  return { has, size: listed.size, keys: () => listed.keys() };
}

/** Milliseconds from a start to a time or a duration; `undefined` without one, and for a time if the start is not known. */
export function timeSince(start: number | undefined, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const when = parseWhen(text);
  if (when === undefined) return undefined;
  if ("after" in when) return when.after;
  if (start === undefined) return undefined;
  return when.at - start;
}
