import type { FieldPath } from "../../schema/field-path.js";
import { quote } from "../../schema/words.js";
import { isReserved } from "../format/refs.js";
import { isPopulated, populationOf } from "../keys/population.js";
import { fieldOfKey } from "../keys/scenario-keys.js";
import { checkRef } from "./known-refs.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

/** The scenario has an organization. */
const organizationExists: ScenarioRule = ({ scenario, problems }) => {
  const listed = Object.keys(scenario.organizations ?? {});
  if (listed.length > 0 || populationOf(scenario).organizations > 0) return;
  problems.add({
    code: "no_organizations",
    field: ["organizations"],
    pointAt: "name",
    message: "the scenario has no organization",
    hint: "add one: organizations: { harvest-bank: { type: bank } }",
  });
};

/** Each ref of an organization or a key is unique, none of the population's, and no word of stories. */
const refsAreUniqueAndAllowed: ScenarioRule = (input) => {
  const { scenario, keys, keyOf, problems } = input;
  for (const ref of Object.keys(scenario.organizations ?? {})) {
    checkNotPopulated(ref, ["organizations", ref], input);
  }

  for (const key of keys) {
    const { ref } = key;
    const field = fieldOfKey(key);
    checkNotPopulated(ref, field, input);
    if (isReserved(ref)) {
      problems.add({
        code: "reserved_key_ref",
        field,
        pointAt: "name",
        message: `a key cannot have the ref ${quote(ref)}: stories use this word instead of a key`,
        hint: `call it ${ref}-key`,
      });
    }

    const first = keyOf(ref);
    if (first === undefined || first === key) continue;
    problems.add({
      code: "duplicate_key_ref",
      field,
      pointAt: "name",
      message: `${quote(first.organization)} already has a key ${quote(ref)}`,
      hint: "refs of keys are unique in the whole scenario: choose another one",
    });
  }
};

function checkNotPopulated(ref: string, field: FieldPath, { scenario, problems }: RuleInput): void {
  if (!isPopulated(ref, scenario.population)) return;
  problems.add({
    code: "taken_by_population",
    field,
    pointAt: "name",
    message: `the population has the ref ${quote(ref)}`,
    hint: "choose another one: the population uses organization-1, organization-1-key-1 and so on",
  });
}

/** The default key and each replacement exist. */
const refsExist: ScenarioRule = ({ scenario, keys, refs, problems }) => {
  checkRef("key", scenario.default_key, ["default_key"], refs, problems);
  for (const key of keys) {
    checkRef("key", key.fields.replaced_by, [...fieldOfKey(key), "replaced_by"], refs, problems);
  }
};

export const refRules: readonly ScenarioRule[] = [organizationExists, refsAreUniqueAndAllowed, refsExist];
