import { type Assumptions, resolveAssumptions } from "../../rules/assumptions.js";
import { type OutcomeId, outcomes } from "../../rules/outcomes.js";
import type { FieldPath } from "../../schema/shape.js";
import { nearest, quote } from "../../schema/words.js";
import { actionName, actionRefs, actionRow } from "../actions.js";
import {
  allKeys,
  allOrganizations,
  listedKeys,
  populatedKeyAt,
  populatedKind,
  type ScenarioKey,
  writtenEndpoints,
} from "../keys.js";
import { ProblemList } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";

/** What a rule gets: a scenario that has its shape, what several rules read from it, and where problems go. */
export interface RuleInput {
  readonly scenario: Scenario;
  /** When its clock starts if it does not set `clock.now`; `undefined` if that is not known yet. */
  readonly start: number | undefined;
  /** All keys that the scenario lists, without the population's. */
  readonly keys: readonly ScenarioKey[];
  /** Finds a key by its ref, also one of the population. Of several listed keys with one ref, which is a problem, the first. */
  readonly keyOf: (ref: string) => ScenarioKey | undefined;
  readonly refs: KnownRefs;
  readonly refsInSteps: KnownRefs;
  /** The outcomes of its endpoints. */
  readonly successes: ReadonlySet<string>;
  readonly assumptions: Assumptions;
  readonly problems: ProblemList;
}

/** Adds a problem for each part of a scenario that breaks it. */
export type ScenarioRule = (input: RuleInput) => void;

export function ruleInputOf(scenario: Scenario, start: number | undefined): RuleInput {
  const keys = [...listedKeys(scenario)];
  const keyByRef = new Map<string, ScenarioKey>();
  for (const key of keys) {
    if (!keyByRef.has(key.ref)) keyByRef.set(key.ref, key);
  }
  const keyOf = (ref: string) => keyByRef.get(ref) ?? populatedKeyAt(ref, scenario);
  const refs = refsAtStart(scenario, keyOf);

  // A scope that an endpoint requires is also one of the assumed `scopes`: those that a key may have.
  const { profile = "minimal", ...ownAssumptions } = scenario.assumptions ?? {};
  const endpoints = writtenEndpoints(scenario).map(([, endpoint]) => endpoint);

  return {
    scenario,
    start,
    keys,
    keyOf,
    refs,
    refsInSteps: refsInSteps(scenario, refs),
    successes: successesOf(scenario),
    assumptions: resolveAssumptions(profile, ownAssumptions, endpoints),
    problems: new ProblemList(),
  };
}

// Which refs exist, and the problem of a field whose ref does not.

/** The refs of keys and organizations, including the population's. */
type KnownRefs = Readonly<
  Record<
    "key" | "organization",
    {
      readonly has: (ref: string) => boolean;
      /** The refs in the order in which a hint lists them. */
      readonly all: () => Iterable<string>;
    }
  >
>;

/** The refs of a scenario as it starts. `keyOf` finds a key by its ref. */
function refsAtStart(scenario: Scenario, keyOf: RuleInput["keyOf"]): KnownRefs {
  const { organizations = {}, population } = scenario;
  return {
    key: {
      has: (ref) => keyOf(ref) !== undefined,
      *all() {
        for (const { ref } of allKeys(scenario)) yield ref;
      },
    },
    organization: {
      has(ref) {
        if (Object.hasOwn(organizations, ref)) return true;
        return populatedKind(ref, population) === "organization";
      },
      *all() {
        for (const [ref] of allOrganizations(scenario)) yield ref;
      },
    },
  };
}

/** The refs that a step can name: also those of the keys that a step creates, be it an earlier or a later one. */
function refsInSteps({ timeline = [], story = [] }: Scenario, refs: KnownRefs): KnownRefs {
  const created = new Set<string>();
  for (const step of [...timeline, ...story]) {
    const name = actionName(step);
    if (name === undefined || actionRow(name).newKeyField === undefined) continue;
    const { newKey } = actionRefs(step);
    // Only a run shows which ref this key gets: it can be any.
    if (newKey === undefined) return { ...refs, key: { ...refs.key, has: () => true } };
    created.add(newKey);
  }
  return {
    ...refs,
    key: {
      has: (ref) => refs.key.has(ref) || created.has(ref),
      *all() {
        yield* refs.key.all();
        yield* created;
      },
    },
  };
}

/** Adds a problem for a ref of nothing; to write no ref is fine. */
export function checkRef(
  kind: keyof KnownRefs,
  ref: string | undefined,
  field: FieldPath,
  refs: KnownRefs,
  problems: ProblemList,
): void {
  if (ref === undefined || refs[kind].has(ref)) return;
  // The hint takes time, and nobody would see it.
  if (problems.isFull) return;
  const message = `there is no ${kind} ${quote(ref)}`;
  problems.add(`unknown_${kind}_ref`, field, message, hintForRef(ref, kind, refs));
}

/** A wrong ref is compared with at most this many. */
const maxRefsCompared = 300;
/** A hint lists at most this many refs. */
const maxRefsShown = 10;

function hintForRef(ref: string, kind: keyof KnownRefs, refs: KnownRefs): string {
  const compared: string[] = [];
  for (const known of refs[kind].all()) {
    if (compared.length === maxRefsCompared) break;
    compared.push(known);
  }
  if (compared.length === 0) return `the scenario has no ${kind}s`;
  const near = nearest(ref, compared);
  if (near !== undefined) return `did you mean ${near}?`;

  const more = compared.length > maxRefsShown ? ", …" : "";
  return `${kind}s of this scenario: ${compared.slice(0, maxRefsShown).join(", ")}${more}`;
}

// A sandbox has the outcomes of the specification, and the success of each endpoint of its scenario: `200.listConsents`.

const outcomesOfSpecification: ReadonlySet<string> = new Set(outcomes.map(({ id }) => id));

/** The success of each endpoint of a scenario. */
export function successesOf(scenario: Pick<Scenario, "endpoints">): ReadonlySet<string> {
  const endpoints = writtenEndpoints(scenario);
  return new Set(endpoints.map(([name, { status = 200 }]) => `${status}.${name}`));
}

/** Adds a problem for an outcome that the sandbox does not have; to write none is fine. */
export function checkOutcome(
  outcome: OutcomeId | undefined,
  field: FieldPath,
  successes: ReadonlySet<string>,
  problems: ProblemList,
): void {
  if (outcome === undefined || outcomesOfSpecification.has(outcome) || successes.has(outcome)) return;
  // The hint takes time, and nobody would see it.
  if (problems.isFull) return;
  const near = nearest(outcome, [...outcomesOfSpecification, ...successes]);
  let hint = "the report of a sandbox lists its endpoints and outcomes";
  if (near !== undefined) hint = `did you mean ${near}?`;
  problems.add("bad_choice", field, `the sandbox has no outcome ${quote(outcome)}`, hint);
}
