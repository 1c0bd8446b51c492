import type { FieldPath } from "../../schema/field-path.js";
import { listed, quote } from "../../schema/words.js";
import { defaultScopes } from "../keys/key-settings.js";
import { populationOf } from "../keys/population.js";
import { rotationsOf } from "../keys/rotations.js";
import { fieldOfKey } from "../keys/scenario-keys.js";
import type { FieldProblem } from "../problems.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

/** The scope of `/me` is a known one. */
const scopeOfMeIsKnown: ScenarioRule = ({ scenario, assumptions, problems }) => {
  const { me_scope, scopes } = assumptions;
  if (me_scope === null || scopes.includes(me_scope)) return;
  const written = scenario.assumptions?.me_scope === undefined ? "scopes" : "me_scope";
  problems.add({
    code: "unknown_scope",
    field: ["assumptions", written],
    message: `me_scope is ${quote(me_scope)}, which is not one of assumptions.scopes`,
    hint: "set me_scope to one of them, or to null for no scope",
  });
};

/** The scopes that keys set are known, and no key has a scope twice. Those of keys that set none: `defaultScopesAreKnown`. */
const scopesOfKeysAreKnown: ScenarioRule = ({ keys, assumptions, problems }) => {
  for (const key of keys) {
    const { scopes = [] } = key.fields;
    for (const [index, scope] of scopes.entries()) {
      const field = [...fieldOfKey(key), "scopes", index];
      if (!assumptions.scopes.includes(scope)) problems.add(unknownScope(scope, field, assumptions));
      if (scopes.indexOf(scope) < index) {
        problems.add({
          code: "duplicate_scope",
          field,
          message: `${quote(scope)} is listed twice`,
          hint: "list it once",
        });
      }
    }
  }
};

/** The default scopes are known, if a key has them: one of the population, or one in whose rotation no key sets scopes (R37). */
export const defaultScopesAreKnown: ScenarioRule = ({ scenario, keys, assumptions, problems }) => {
  const unknown = defaultScopes.find((scope) => !assumptions.scopes.includes(scope));
  if (unknown === undefined) return;

  for (const rotation of rotationsOf(keys)) {
    if (rotation.some(({ fields }) => fields.scopes !== undefined)) continue;
    const [oldest] = rotation;
    problems.add(unknownScope(unknown, [...fieldOfKey(oldest), "scopes", 0], assumptions));
  }

  const { organizations, keysEach } = populationOf(scenario);
  if (organizations === 0 || keysEach === 0) return;
  problems.add({
    code: "unknown_scope",
    field: ["population"],
    pointAt: "name",
    message: `the keys of the population have the scope ${quote(unknown)}, which is not one of assumptions.scopes`,
    hint: "add the scope to assumptions.scopes, or set keys_per_organization: 0",
  });
};

function unknownScope(scope: string, field: FieldPath, { scopes }: RuleInput["assumptions"]): FieldProblem {
  return {
    code: "unknown_scope",
    field,
    message: `there is no scope ${quote(scope)}`,
    hint: `give the key ${listed(scopes, "or")}, or add the scope to assumptions.scopes`,
  };
}

/** The requests of a minute are also requests of its day (R24). */
const usageAddsUp: ScenarioRule = ({ keys, problems }) => {
  for (const key of keys) {
    const { usage } = key.fields;
    // In a snapshot, some requests of a sliding minute may belong to the day before.
    if (usage === undefined || usage.counted_at !== undefined) continue;

    const minute = usage.this_minute ?? 0;
    const today = usage.today ?? minute;
    if (today >= minute) continue;
    problems.add({
      code: "usage_contradiction",
      field: [...fieldOfKey(key), "usage", "today"],
      message: `today is ${today}, less than this_minute, which is ${minute}`,
      hint: "the requests of this minute also count for today (R24)",
    });
  }
};

export const keyRules: readonly ScenarioRule[] = [scopeOfMeIsKnown, scopesOfKeysAreKnown, usageAddsUp];
