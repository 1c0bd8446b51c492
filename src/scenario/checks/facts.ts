import { lastClockInstant } from "../../rules/api-key.js";
import { type Assumptions, assumptionsFor } from "../../rules/assumptions.js";
import { maximumProblems } from "../../rules/schema/check.js";
import type { Spelling } from "../../rules/schema/problem.js";
import type { FieldPath } from "../../rules/schema/shape.js";
import { nearest, quote } from "../../rules/schema/words.js";
import { parseTime, parseWhen } from "../../rules/time.js";
import { type ScenarioOrganization, type WrittenKey, writtenKeys } from "../described-keys.js";
import { isReserved } from "../format/fields.js";
import { isPopulated } from "../population.js";
import type { FieldProblem, ScenarioProblemCode } from "../problems.js";
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
  readonly wrong: Wrong;
  readonly spelling: Spelling;
  /** Of the paths that contradict each other, the first that was written last: by the scenario itself, before those that it extends. */
  readonly latest: (...paths: readonly [FieldPath, ...FieldPath[]]) => FieldPath;
}

interface KnownRefs extends Pick<ReadonlyMap<string, unknown>, "has" | "size"> {
  readonly keys: () => Iterable<string>;
}

type RefKind = "key" | "organization";

/** Reports a problem of a field; points at its value by default. A hint that takes time is a function. */
type Wrong = (
  code: ScenarioProblemCode,
  path: FieldPath,
  message: string,
  hint: string | (() => string),
  pointAt?: "key" | "value",
) => void;

/** Adds problems to a list, which never has more than `maximumProblems`. */
export function wrongInto(problems: FieldProblem[]): Wrong {
  return (code, path, message, hint, pointAt = "value") => {
    if (problems.length >= maximumProblems) return;
    problems.push({ code, field: path, message, hint: typeof hint === "string" ? hint : hint(), pointAt });
  };
}

export type ScenarioRule = (facts: Facts) => void;

export function factsOf(scenario: Scenario, text: Pick<Facts, "spelling" | "latest" | "wrong">): Facts {
  const { population, clock } = scenario;
  const organizations = new Map(Object.entries(scenario.organizations ?? {}));
  const keys = [...writtenKeys(scenario)];
  const keyOf = new Map<string, WrittenKey>();
  for (const key of keys) if (!keyOf.has(key.ref)) keyOf.set(key.ref, key);
  const { profile = "minimal", ...given } = scenario.assumptions ?? {};
  const start = parseTime(clock?.now ?? "");
  return {
    scenario,
    organizations,
    keys,
    keyOf,
    assumptions: assumptionsFor(
      profile,
      given,
      writtenEndpoints(scenario).map(([, endpoint]) => endpoint),
    ),
    refs: { key: knownIn(keyOf, true), organization: knownIn(organizations, false) },
    start,
    fromStart: (text) => timeSince(start, text),
    ...text,
  };

  function knownIn(map: ReadonlyMap<string, unknown>, areKeys: boolean): KnownRefs {
    const has = (ref: string) =>
      map.has(ref) || (ref.includes("-key-") === areKeys && isPopulated(ref, population));
    return { size: map.size, keys: () => map.keys(), has };
  }
}

/** Milliseconds from a start to a time or duration; `undefined` if that depends on a start that is not known. */
export function timeSince(start: number | undefined, text: string | undefined): number | undefined {
  const when = parseWhen(text ?? "");
  if (when === undefined || "after" in when) return when?.after;
  return start === undefined ? undefined : when.at - start;
}

const refsAreFree: ScenarioRule = ({ scenario, organizations, keys, keyOf, wrong }) => {
  const { population } = scenario;
  if (organizations.size === 0 && (population?.organizations ?? 0) === 0) {
    const hint = "add one: organizations: { harvest-bank: { type: bank } }";
    wrong("no_organizations", ["organizations"], "the scenario has no organization", hint, "key");
  }
  const isTaken = (ref: string, path: FieldPath) => {
    if (!isPopulated(ref, population)) return;
    const hint = "choose another one: the population uses organization-1, organization-1-key-1 and so on";
    wrong("taken_by_population", path, `the population has the ref ${quote(ref)}`, hint, "key");
  };
  for (const ref of organizations.keys()) isTaken(ref, ["organizations", ref]);
  for (const key of keys) {
    const { ref, path } = key;
    isTaken(ref, path);
    if (isReserved(ref)) {
      const message = `a key cannot have the ref ${quote(ref)}: stories use this word instead of a key`;
      wrong("reserved_key_ref", path, message, `call it ${ref}-key`, "key");
    }
    const first = keyOf.get(ref);
    if (first === undefined || first === key) continue;
    const message = `${quote(first.organization)} already has a key ${quote(ref)}`;
    const hint = "refs of keys are unique in the whole scenario: choose another one";
    wrong("duplicate_key_ref", path, message, hint, "key");
  }
};

const refsExist: ScenarioRule = (facts) => {
  checkRef("key", facts.scenario.default_key, ["default_key"], facts);
  for (const { path, fields } of facts.keys) {
    checkRef("key", fields.replaced_by, [...path, "replaced_by"], facts);
  }
};

export function checkRef(
  kind: RefKind,
  ref: string | undefined,
  path: FieldPath,
  { refs, wrong }: Pick<Facts, "refs" | "wrong">,
): void {
  if (ref === undefined || refs[kind].has(ref)) return;
  const hint = () => knownRefsHint(ref, refs[kind], `${kind}s`);
  wrong(`unknown_${kind}_ref`, path, `there is no ${kind} ${quote(ref)}`, hint);
}

const clockIsWithinYears: ScenarioRule = ({ start = 0, wrong }) => {
  if (start <= lastClockInstant) return;
  const latest = new Date(lastClockInstant).toISOString();
  wrong("out_of_range", ["clock", "now"], `a clock cannot start after ${latest}`, "write an earlier time");
};

export const refRules: readonly ScenarioRule[] = [clockIsWithinYears, refsAreFree, refsExist];

function knownRefsHint(ref: string, known: KnownRefs, things: string): string {
  // Comparing each of many wrong refs with more than this would be slow.
  const near = known.size > 300 ? undefined : nearest(ref, known.keys());
  if (near !== undefined) return `did you mean ${near}?`;
  if (known.size === 0) return `the scenario has no ${things}`;
  const names: string[] = [];
  for (const name of known.keys()) if (names.push(name) === 10) break;
  return `${things} of this scenario: ${names.join(", ")}${known.size > names.length ? ", …" : ""}`;
}
