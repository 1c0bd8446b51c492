import { listed, quote } from "../../schema/words.js";
import { defaultScopes } from "../keys/key-settings.js";
import { fieldOfKey } from "../keys/scenario-keys.js";
import type { ScenarioRule } from "./rule-input.js";

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

/** The scopes of keys are known, and no key has a scope twice. */
const scopesOfKeysAreKnown: ScenarioRule = ({ keys, assumptions, problems }) => {
  const knownScopes = assumptions.scopes;
  for (const key of keys) {
    const { scopes = defaultScopes } = key.fields;
    for (const [index, scope] of scopes.entries()) {
      const field = [...fieldOfKey(key), "scopes", index];
      if (!knownScopes.includes(scope)) {
        problems.add({
          code: "unknown_scope",
          field,
          message: `there is no scope ${quote(scope)}`,
          hint: `give the key ${listed(knownScopes, "or")}, or add the scope to assumptions.scopes`,
        });
      }
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
