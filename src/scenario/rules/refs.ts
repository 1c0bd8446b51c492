import { freeRefIn, isReserved, type ReservedKeyRef } from "../format/ref.js";
import {
  defaultKeysPerOrganization,
  isPopulated,
  populatedKeyRef,
  populatedNumbers,
  populatedRef,
} from "../population.js";
import type { Path } from "../problems/scenario-problem.js";
import { knownRefsHint, quote } from "../problems/words.js";
import type { Scenario } from "../scenario.generated.js";
import type { Facts, RefKind, ScenarioRule, Wrong } from "./facts.js";

/** Each organization and key has a ref, and each organization an id, of its own. */
export const refsAreFree: ScenarioRule = ({ scenario, organizations, keys, keyOf, wrong }) => {
  const { population } = scenario;
  if (organizations.size === 0 && (population?.organizations ?? 0) === 0) {
    const hint = "add one: organizations: { harvest-bank: { type: bank } }";
    wrong("no_organizations", ["organizations"], "the scenario has no organization", hint, "key");
  }
  const isTaken = (ref: string, path: Path) => {
    if (!isPopulated(ref, population)) return;
    const hint = "choose another one: the population has organization-1, organization-1-key-1 and so on";
    wrong("taken_by_population", path, `the population has the ref ${quote(ref)}`, hint, "key");
  };
  const ids = new Map<string, string>();
  for (const [ref, { id }] of organizations) {
    isTaken(ref, ["organizations", ref]);
    if (id === undefined) continue;
    const earlier = ids.get(id);
    if (earlier === undefined) ids.set(id, ref);
    else {
      const hint = "give each organization its own id, or leave it out";
      wrong(
        "duplicate_organization_id",
        ["organizations", ref, "id"],
        `${quote(earlier)} has the same id`,
        hint,
      );
    }
  }
  for (const key of keys) {
    const { ref, path } = key;
    isTaken(ref, path);
    reservedRef(ref, path, wrong, "key");
    const first = keyOf.get(ref);
    if (first === undefined || first === key) continue;
    const message = `${quote(first.organization)} already has a key ${quote(ref)}`;
    const free = freeRefIn((one) => keyOf.has(one), ref);
    const hint = `refs of keys are unique in the whole scenario: call it ${free}, for example`;
    wrong("duplicate_key_ref", path, message, hint, "key");
  }
};

/** The default key, and each key that replaced another one, exists. */
export const refsExist: ScenarioRule = (facts) => {
  checkRef("key", facts.scenario.default_key, ["default_key"], facts);
  for (const { path, fields } of facts.keys) {
    checkRef("key", fields.replaced_by, [...path, "replaced_by"], facts);
  }
};

/** Reports a ref that no key, or no organization, has. */
export function checkRef(
  kind: RefKind,
  ref: string | undefined,
  path: Path,
  {
    scenario,
    refs,
    wrong,
  }: Pick<Facts, "refs" | "wrong"> & { readonly scenario: Pick<Scenario, "population"> },
): void {
  if (ref === undefined || refs[kind].has(ref)) return;
  const hint = populationHint(ref, scenario) ?? knownRefsHint(ref, refs[kind], `${kind}s`);
  wrong(`unknown_${kind}_ref`, path, `there is no ${kind} ${quote(ref)}`, hint);
}

// For a ref that looks like one of the population.
function populationHint(ref: string, { population = {} }: Pick<Scenario, "population">): string | undefined {
  const numbers = populatedNumbers(ref);
  const { organizations = 0, keys_per_organization: keysEach = defaultKeysPerOrganization } = population;
  if (numbers === undefined || organizations === 0) return undefined;
  if (numbers.key === undefined) return `the last one of the population is ${populatedRef(organizations)}`;
  if (keysEach === 0) return "the organizations of the population have no keys";
  return `the last one of the population is ${populatedKeyRef(organizations, keysEach)}`;
}

const meaningOf: Readonly<Record<ReservedKeyRef, string>> = {
  none: "no key",
  malformed: "a malformed key",
  unknown: "a key that does not exist",
};

/** Reports a ref that a key cannot have, because it means something else in stories. */
export function reservedRef(
  ref: string | undefined,
  path: Path,
  wrong: Wrong,
  pointAt: "key" | "value" = "value",
): void {
  if (!isReserved(ref)) return;
  const message = `no key can be called ${quote(ref)}: in a story it stands for ${meaningOf[ref]}`;
  wrong("reserved_key_ref", path, message, `call it ${ref}-key`, pointAt);
}
