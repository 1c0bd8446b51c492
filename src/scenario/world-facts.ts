import { type Assumptions, assumptionsFor } from "../domain/assumptions.js";
import { parseDuration } from "./duration.js";
import type { Finding } from "./finding.js";
import type { Path } from "./located.js";
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

/** One fault of a scenario that is well-shaped. */
export interface FaultFacts {
  readonly path: Path;
  readonly fields: NonNullable<Scenario["faults"]>[number];
}

/** What the rules about contradictions look at. */
export interface WorldFacts {
  readonly organizations: ReadonlyMap<string, Partial<OrganizationFields>>;
  readonly keys: readonly KeyFacts[];
  /** The first key of each ref. */
  readonly keyOf: ReadonlyMap<string, KeyFacts>;
  readonly defaultKey: string | undefined;
  readonly faults: readonly FaultFacts[];
  /** The assumptions as written; `undefined` when one of them is wrong. */
  readonly assumptions: NonNullable<Scenario["assumptions"]> | undefined;
  readonly resolvedAssumptions: Assumptions;
  /** When the clock starts; `undefined` when it starts at the real time. */
  readonly now: number | undefined;
  /** Whether every ref is readable, so that one that is not found is really missing. */
  readonly refsAreCertain: boolean;
}

/** A rule about what fields say of each other: where a scenario breaks it. */
export type ScenarioRule = (facts: WorldFacts) => Finding[];

/** The facts of a scenario of which `known` is already said to be wrong; what is wrong is left out. */
export function factsOf(value: unknown, known: readonly Finding[]): WorldFacts {
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
  // Not of the copy: a list has other places for its items when some of them are left out.
  const { faults: listed } = (value ?? {}) as Scenario;
  const isWrong = known.some(({ path }) => path.length === 1 && path[0] === "faults");
  const faults = (Array.isArray(listed) && !isWrong ? listed : [])
    .map((fields, index) => ({ fields, path: ["faults", index] }))
    .filter(({ path }) => isSound(path));
  const assumptions = isSound(["assumptions"]) ? (scenario.assumptions ?? {}) : undefined;
  const { profile = "minimal", ...given } = assumptions ?? {};
  const now = scenario.clock?.now;
  return {
    organizations,
    keys,
    keyOf,
    defaultKey: scenario.default_key,
    faults,
    assumptions,
    resolvedAssumptions: assumptionsFor(profile, given),
    now: now === undefined ? undefined : parseTime(now),
    refsAreCertain: !known.some(mayHideKeys),
  };
}

// Whatever is wrong above the fields of a key may have hidden a key, such as a misspelt `keys`.
function mayHideKeys({ path, code }: Finding): boolean {
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
