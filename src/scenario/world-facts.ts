import { type Assumptions, assumptionsFor } from "../domain/assumptions.js";
import { defaultSeed } from "../domain/seed.js";
import { parseDuration } from "./duration.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
import type { Population } from "./population.js";
import { mentionedPopulation } from "./population-rules.js";
import type { Scenario } from "./scenario.generated.js";
import { parseTime } from "./when.js";

type Organizations = NonNullable<Scenario["organizations"]>;
export type OrganizationFields = Organizations[string];
export type KeyFields = NonNullable<OrganizationFields["keys"]>[string];

/** One key of a scenario, as far as it is well-shaped. */
export interface KeyFacts {
  readonly ref: string;
  readonly organization: string;
  readonly path: Path;
  /** What is written and well-shaped; the rest is left out, `environment` too. */
  readonly fields: Partial<KeyFields>;
  /** Whether all that is written is well-shaped, so that what the fields say of each other means something. */
  readonly sound: boolean;
}

type ItemList = "faults" | "consents" | "timeline" | "story";

/** One item of a list of a scenario: a fault, a consent request, or a step; well-shaped. */
export interface ItemFacts<List extends ItemList> {
  readonly path: Path;
  readonly fields: NonNullable<Scenario[List]>[number];
}

/** What the rules about contradictions look at. */
export interface WorldFacts {
  /** Those that are written out, and those of the population that anything speaks of. */
  readonly organizations: ReadonlyMap<string, Partial<OrganizationFields>>;
  /** Those that are written out. */
  readonly keys: readonly KeyFacts[];
  /** The first key of each ref, also of the population where anything speaks of it. */
  readonly keyOf: ReadonlyMap<string, KeyFacts>;
  /** The refs that several keys have. */
  readonly sharedRefs: ReadonlySet<string>;
  readonly seed: number;
  /** Whether it is the world of another scenario, some time later. */
  readonly isSnapshot: boolean;
  /** What the scenario extends, if it extends one. */
  readonly extended: Extended | undefined;
  readonly population: Population | undefined;
  /** The refs of organizations that are in `organizations` for no other reason than that anything speaks of them. */
  readonly populated: ReadonlySet<string>;
  readonly defaultKey: string | undefined;
  readonly faults: readonly ItemFacts<"faults">[];
  readonly preview: boolean;
  readonly consents: readonly ItemFacts<"consents">[];
  readonly timeline: readonly ItemFacts<"timeline">[];
  readonly story: readonly ItemFacts<"story">[];
  /** The assumptions as written; `undefined` when one of them is wrong. */
  readonly assumptions: NonNullable<Scenario["assumptions"]> | undefined;
  readonly resolvedAssumptions: Assumptions;
  /** When the clock starts; `undefined` when it starts at the real time. */
  readonly now: number | undefined;
  /** Whether every ref is readable, so that one that is not found is really missing. */
  readonly refsAreCertain: boolean;
  /** Whether every step is readable, so that a key that none of them makes is made by none. */
  readonly stepsAreCertain: boolean;
}

/** The scenario that another one extends, seen from there. */
export interface Extended {
  readonly name: string;
  /** Whether a field stands in the scenario that extends it. */
  readonly isOwn: (path: Path) => boolean;
}

/** A rule about what fields say of each other: where a scenario breaks it. */
export type ScenarioRule = (facts: WorldFacts) => Finding[];

/** The facts of a scenario of which `known` is already said to be wrong; what is wrong is left out. */
export function factsOf(value: unknown, known: readonly Finding[], extended?: Extended): WorldFacts {
  const scenario = withoutWrong(value, known) as Scenario;
  const touched = new Set(
    known.flatMap(({ path }) => path.map((_, index) => idOf(path.slice(0, index + 1)))),
  );
  const isSound = (path: Path) => !touched.has(idOf(path));
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...organizations].flatMap(([organization, { keys = {} }]) =>
    Object.entries(keys).map(([ref, fields]) => {
      const path = ["organizations", organization, "keys", ref];
      return { ref, organization, path, fields, sound: isSound(path) };
    }),
  );
  const keyOf = new Map<string, KeyFacts>();
  for (const key of keys) if (!keyOf.has(key.ref)) keyOf.set(key.ref, key);
  const populated = new Set<string>();
  const mentioned = mentionedPopulation(scenario);
  for (const [ref, organization] of mentioned.organizations) {
    if (organizations.has(ref)) continue;
    organizations.set(ref, organization);
    populated.add(ref);
  }
  for (const [ref, key] of mentioned.keys) if (!keyOf.has(ref)) keyOf.set(ref, key);
  const itemsOf = <List extends ItemList>(list: List): ItemFacts<List>[] => {
    // Not of the copy: a list has other places for its items when some of them are left out.
    const listed = ((value ?? {}) as Scenario)[list];
    const isWrong = known.some(({ path }) => path.length === 1 && path[0] === list);
    return (Array.isArray(listed) && !isWrong ? listed : [])
      .map((fields, index) => ({ fields, path: [list, index] }) as ItemFacts<List>)
      .filter(({ path }) => isSound(path));
  };
  const assumptions = isSound(["assumptions"]) ? (scenario.assumptions ?? {}) : undefined;
  const { profile = "minimal", ...given } = assumptions ?? {};
  const now = scenario.clock?.now;
  return {
    organizations,
    keys,
    keyOf,
    sharedRefs: new Set(keys.filter((key) => keyOf.get(key.ref) !== key).map(({ ref }) => ref)),
    seed: scenario.seed ?? defaultSeed,
    extended,
    isSnapshot: scenario.requests_answered !== undefined,
    population: scenario.population,
    populated,
    defaultKey: scenario.default_key,
    faults: itemsOf("faults"),
    // Of one that is wrongly written nobody knows what was meant.
    preview: scenario.preview ?? !isSound(["preview"]),
    consents: itemsOf("consents"),
    timeline: itemsOf("timeline"),
    story: itemsOf("story"),
    assumptions,
    resolvedAssumptions: assumptionsFor(profile, given),
    now: now === undefined ? undefined : parseTime(now),
    refsAreCertain: !known.some(mayHideKeys),
    stepsAreCertain: !known.some(
      ({ path }) => path.length === 0 || path[0] === "timeline" || path[0] === "story",
    ),
  };
}

// Whatever is wrong above the fields of a key may have hidden a key, such as a misspelt `keys`.
function mayHideKeys({ path, code }: Finding): boolean {
  if (path[0] === "population") return true;
  if (path.length <= 1) return path.length === 0 || path[0] === "organizations" || code === "unknown_field";
  return path[0] === "organizations" && path.length <= 4;
}

/** Milliseconds from the clock's start to a time or duration; `undefined` when that hangs on the real time. */
export function fromStart(text: string | undefined, { now }: WorldFacts): number | undefined {
  if (text === undefined) return undefined;
  const duration = parseDuration(text);
  if (duration !== undefined) return duration;
  const time = parseTime(text);
  return time === undefined || now === undefined ? undefined : time - now;
}

function withoutWrong(value: unknown, known: readonly Finding[]): unknown {
  const wrong = new Set(known.map(({ path }) => idOf(path)));
  return copy(value, []);

  function copy(part: unknown, path: Path): unknown {
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.filter((_item, index) => !isWrong([...path, index]));
    const members = Object.entries(part).filter(([name]) => !isWrong([...path, name]));
    return Object.fromEntries(members.map(([name, member]) => [name, copy(member, [...path, name])]));
  }

  function isWrong(path: Path): boolean {
    return wrong.has(idOf(path));
  }
}

function idOf(path: Path): string {
  return JSON.stringify(path);
}
