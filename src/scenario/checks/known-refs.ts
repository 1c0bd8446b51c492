import type { FieldPath } from "../../schema/field-path.js";
import { nearest, quote } from "../../schema/words.js";
import { actionName, actionRefs, actionRow } from "../actions.js";
import { isPopulated, populatedNumbers } from "../keys/population.js";
import { allKeys, allOrganizations, type ScenarioKey } from "../keys/scenario-keys.js";
import type { ProblemList } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";

// Which refs exist, and the problem of a field whose ref does not.

/** The refs of one kind. */
interface RefsOfKind {
  readonly has: (ref: string) => boolean;
  /** The refs in the order in which a hint lists them. */
  readonly all: () => Iterable<string>;
}

/** The refs of keys and organizations, including the population's. */
export interface KnownRefs {
  readonly key: RefsOfKind;
  readonly organization: RefsOfKind;
}

/** The refs of a scenario as it starts. `keyOf` finds a key by its ref. */
export function refsAtStart(scenario: Scenario, keyOf: (ref: string) => ScenarioKey | undefined): KnownRefs {
  return {
    key: {
      has: (ref) => keyOf(ref) !== undefined,
      *all() {
        for (const { ref } of allKeys(scenario)) yield ref;
      },
    },
    organization: {
      has: (ref) => hasOrganization(scenario, ref),
      *all() {
        for (const [ref] of allOrganizations(scenario)) yield ref;
      },
    },
  };
}

function hasOrganization({ organizations = {}, population }: Scenario, ref: string): boolean {
  if (Object.hasOwn(organizations, ref)) return true;
  const isRefOfKey = populatedNumbers(ref)?.key !== undefined;
  return !isRefOfKey && isPopulated(ref, population);
}

/** The refs that a step can name: also those of the keys that a step creates, be it an earlier or a later one. */
export function refsInSteps({ timeline = [], story = [] }: Scenario, refs: KnownRefs): KnownRefs {
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
  problems.add({
    code: `unknown_${kind}_ref`,
    field,
    message: `there is no ${kind} ${quote(ref)}`,
    hint: hintForRef(ref, `${kind}s`, refs[kind]),
  });
}

/** A wrong ref is compared with at most this many. */
const maxRefsCompared = 300;
/** A hint lists at most this many refs. */
const maxRefsShown = 10;

function hintForRef(ref: string, things: string, refs: RefsOfKind): string {
  const compared = firstRefs(refs, maxRefsCompared);
  if (compared.length === 0) return `the scenario has no ${things}`;
  const near = nearest(ref, compared);
  if (near !== undefined) return `did you mean ${near}?`;

  const more = compared.length > maxRefsShown ? ", …" : "";
  return `${things} of this scenario: ${compared.slice(0, maxRefsShown).join(", ")}${more}`;
}

function firstRefs(refs: RefsOfKind, count: number): string[] {
  const first: string[] = [];
  for (const ref of refs.all()) {
    if (first.length === count) break;
    first.push(ref);
  }
  return first;
}
