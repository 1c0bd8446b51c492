import { type Assumptions, assumptionsFor } from "../../domain/assumptions.js";
import { parseDuration, parseTime } from "../format/time.js";
import { isPopulated } from "../population.js";
import type { Diagnostic, Path, ScenarioProblemCode } from "../problems/scenario-problem.js";
import type { KnownRefs } from "../problems/words.js";
import type { Scenario } from "../scenario.generated.js";

type OrganizationFields = NonNullable<Scenario["organizations"]>[string];

/** A key that a scenario describes, as it is written. */
export interface KeyFacts {
  readonly ref: string;
  readonly organization: string;
  readonly path: Path;
  readonly fields: NonNullable<OrganizationFields["keys"]>[string];
}

/** A scenario of the right shape, as the rules look at it. */
export interface Facts {
  readonly scenario: Scenario;
  readonly organizations: ReadonlyMap<string, OrganizationFields>;
  readonly keys: readonly KeyFacts[];
  /** The first key of each ref. */
  readonly keyOf: ReadonlyMap<string, KeyFacts>;
  readonly assumptions: Assumptions;
  /** The refs of keys and organizations, those of the population included. */
  readonly refs: Readonly<Record<RefKind, KnownRefs>>;
  /** Milliseconds from the clock's start to a time or duration; `undefined` when that hangs on the real time. */
  readonly fromStart: (text: string | undefined) => number | undefined;
  readonly wrong: Wrong;
}

/** The things that have refs. */
export type RefKind = "key" | "organization";

/** Reports that something is wrong with a field; points at its value unless told to point at its name. */
export type Wrong = (
  code: ScenarioProblemCode,
  path: Path,
  message: string,
  hint: string,
  pointAt?: "key" | "value",
) => void;

/** A rule about what fields say of each other. */
export type ScenarioRule = (facts: Facts) => void;

export function factsOf(scenario: Scenario, report: (diagnostic: Diagnostic) => void): Facts {
  const { population, clock } = scenario;
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...organizations].flatMap(([organization, { keys = {} }]) =>
    Object.entries(keys).map(([ref, fields]) => {
      return { ref, organization, path: ["organizations", organization, "keys", ref], fields };
    }),
  );
  const keyOf = new Map<string, KeyFacts>();
  for (const key of keys) if (!keyOf.has(key.ref)) keyOf.set(key.ref, key);
  const { profile = "minimal", ...given } = scenario.assumptions ?? {};
  return {
    scenario,
    organizations,
    keys,
    keyOf,
    assumptions: assumptionsFor(profile, given),
    refs: {
      key: {
        ...knownIn(keyOf),
        has: (ref) => keyOf.has(ref) || (isKeyRef(ref) && isPopulated(ref, population)),
      },
      organization: {
        ...knownIn(organizations),
        has: (ref) => organizations.has(ref) || (!isKeyRef(ref) && isPopulated(ref, population)),
      },
    },
    fromStart: (text) => between(undefined, text, clock?.now),
    wrong: (code, path, message, hint, pointAt = "value") => report({ code, path, message, hint, pointAt }),
  };
}

function knownIn(map: ReadonlyMap<string, unknown>) {
  return { size: map.size, keys: () => map.keys() as MapIterator<string> };
}

function isKeyRef(ref: string): boolean {
  return ref.includes("-key-");
}

/**
 * Milliseconds from one time or duration to another, each counted from the start when left out; `undefined` when that
 * hangs on the real time, at which a clock without `now` starts.
 */
export function between(from: string | undefined, to: string | undefined, now?: string): number | undefined {
  const at = (text = "0s") => {
    const duration = parseDuration(text);
    const time = parseTime(text);
    const start = now === undefined ? undefined : parseTime(now);
    return { time: time ?? (start === undefined ? undefined : start + (duration ?? 0)), duration };
  };
  const [one, other] = [at(from), at(to)];
  if (to === undefined) return undefined;
  if (one.time !== undefined && other.time !== undefined) return other.time - one.time;
  if (one.duration === undefined || other.duration === undefined) return undefined;
  return other.duration - one.duration;
}
