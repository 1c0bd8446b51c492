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
  /** Of the paths that contradict each other, the first that was written last: by the scenario itself, before those that it extends. */
  readonly latest: (...paths: readonly [FieldPath, ...FieldPath[]]) => FieldPath;
}

interface KnownRefs extends Pick<ReadonlyMap<string, unknown>, "has" | "size"> {
  readonly keys: () => Iterable<string>;
}

type RefKind = "key" | "organization";

export type ScenarioRule = (facts: Facts) => void;

export function factsOf(scenario: Scenario, text: Pick<Facts, "spelling" | "latest" | "addProblem">): Facts {
  const { population, clock } = scenario;
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...writtenKeys(scenario)];
  const keyOf = new Map<string, WrittenKey>();
  for (const key of keys) if (!keyOf.has(key.ref)) keyOf.set(key.ref, key);
  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const start = parseTime(clock?.now ?? "");
  const endpoints = writtenEndpoints(scenario).map(([, endpoint]) => endpoint);
  const isOfPopulation = (ref: string) => isPopulated(ref, population);
  return {
    scenario,
    organizations,
    keys,
    keyOf,
    assumptions: assumptionsFor(profile, ownAssumptions, endpoints),
    refs: {
      key: knownRefs(keyOf, (ref) => isKeyOfPopulation(ref) && isOfPopulation(ref)),
      organization: knownRefs(organizations, (ref) => !isKeyOfPopulation(ref) && isOfPopulation(ref)),
    },
    start,
    fromStart: (text) => timeSince(start, text),
    ...text,
  };
}

const isKeyOfPopulation = (ref: string) => ref.includes("-key-");

/** The refs of a map and those of the population, which are not listed. */
function knownRefs(map: ReadonlyMap<string, unknown>, isOfPopulation: (ref: string) => boolean): KnownRefs {
  return { size: map.size, keys: () => map.keys(), has: (ref) => map.has(ref) || isOfPopulation(ref) };
}

/** Milliseconds from a start to a time or duration; `undefined` if that depends on a start that is not known. */
export function timeSince(start: number | undefined, text: string | undefined): number | undefined {
  const when = parseWhen(text ?? "");
  if (when === undefined || "after" in when) return when?.after;
  return start === undefined ? undefined : when.at - start;
}
