import { type Assumptions, assumptionsFor } from "../../rules/assumptions.js";
import type { Spelling } from "../../rules/schema/problem.js";
import type { FieldPath } from "../../rules/schema/shape.js";
import { parseTime, parseWhen } from "../../rules/time.js";
import { type ScenarioOrganization, type WrittenKey, writtenKeys } from "../described-keys.js";
import { isPopulated } from "../population.js";
import type { AddProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";

export interface Facts {
  readonly scenario: Scenario;
  readonly organizations: ReadonlyMap<string, ScenarioOrganization>;
  readonly keys: readonly WrittenKey[];
  /** The first key with each ref. */
  readonly keyOf: ReadonlyMap<string, WrittenKey>;
  readonly assumptions: Assumptions;
  /** The refs of keys and organizations, including the population's. */
  readonly refs: Readonly<Record<RefKind, KnownRefs>>;
  /** The clock's start (epoch milliseconds); `undefined` if it starts at the real time. */
  readonly start: number | undefined;
  readonly fromStart: (text: string | undefined) => number | undefined;
  readonly addProblem: AddProblem;
  readonly spelling: Spelling;
  /**
   * Of the fields that contradict each other, the one to point at: the first that the scenario itself has. If it has
   * none, the first of the nearest scenario that it extends.
   */
  readonly writtenLast: (...paths: readonly [FieldPath, ...FieldPath[]]) => FieldPath;
}

interface KnownRefs extends Pick<ReadonlyMap<string, unknown>, "has" | "size"> {
  readonly keys: () => Iterable<string>;
}

type RefKind = "key" | "organization";

/** Adds the problems of a scenario that breaks it. */
export type ScenarioRule = (facts: Facts) => void;

export function factsOf(
  scenario: Scenario,
  text: Pick<Facts, "spelling" | "writtenLast" | "addProblem">,
): Facts {
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...writtenKeys(scenario)];
  const keyOf = new Map<string, WrittenKey>();
  for (const key of keys) {
    if (!keyOf.has(key.ref)) keyOf.set(key.ref, key);
  }

  const { population } = scenario;
  const isPopulatedKey = (ref: string) => isKeyRef(ref) && isPopulated(ref, population);
  const isPopulatedOrganization = (ref: string) => !isKeyRef(ref) && isPopulated(ref, population);
  const refs = {
    key: knownRefs(keyOf, isPopulatedKey),
    organization: knownRefs(organizations, isPopulatedOrganization),
  };

  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const endpoints = writtenEndpoints(scenario).map(([, endpoint]) => endpoint);
  const assumptions = assumptionsFor(profile, ownAssumptions, endpoints);

  const start = parseTime(scenario.clock?.now ?? "");
  const fromStart: Facts["fromStart"] = (time) => timeSince(start, time);
  return { scenario, organizations, keys, keyOf, assumptions, refs, start, fromStart, ...text };
}

// Both kinds of refs in a population start alike: `organization-1`, `organization-1-key-1`.
function isKeyRef(ref: string): boolean {
  return ref.includes("-key-");
}

/** The refs of a map and those of the population, which are not listed. */
function knownRefs(map: ReadonlyMap<string, unknown>, isPopulatedRef: (ref: string) => boolean): KnownRefs {
  return { size: map.size, keys: () => map.keys(), has: (ref) => map.has(ref) || isPopulatedRef(ref) };
}

/** Milliseconds from a start to a time or duration; `undefined` if that depends on a start that is not known. */
export function timeSince(start: number | undefined, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const when = parseWhen(text);
  if (when === undefined) return undefined;
  if ("after" in when) return when.after;
  if (start === undefined) return undefined;
  return when.at - start;
}
