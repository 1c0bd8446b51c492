import { parseApiKey, prefixOf } from "../../rules/key-text.js";
import { scenarioLimits } from "../format/scenario-limits.js";
import { fieldOfKey, isLegacy } from "../keys/scenario-keys.js";
import { duplicateSecretsAndIds } from "./duplicate-values.js";
import { countedKeys } from "./key-count-rules.js";
import type { ScenarioRule } from "./rule-input.js";

/** A pinned secret or id is unique; a secret is well-formed and agrees with the key's fields (R3, R10, R16). */
export const secretsFit: ScenarioRule = (input) => {
  const { scenario, keys, fieldToFix, addProblem } = input;
  // To compare more keys than are allowed would take long.
  if (countedKeys(input).count <= scenarioLimits.keys) {
    for (const problem of duplicateSecretsAndIds(scenario)) addProblem({ ...problem, pointAt: "name" });
  }

  for (const key of keys) {
    const { fields } = key;
    const keyField = fieldOfKey(key);
    const { secret, environment } = fields;
    if (secret === undefined) continue;
    const parsed = parseApiKey(secret);
    const prefix = prefixOf(environment, isLegacy(fields));
    if (parsed === undefined) {
      addProblem({
        code: "secret_malformed",
        field: [...keyField, "secret"],
        message: "the secret is not a well-formed key (R10)",
        hint: `start it with ${prefix}, followed by letters, digits, _ and -`,
      });
    } else if (parsed.prefix !== prefix) {
      addProblem({
        code: "secret_mismatch",
        field: fieldToFix([...keyField, "secret"], [...keyField, "environment"], [...keyField, "legacy"]),
        message: `the secret starts with ${parsed.prefix}, but environment and legacy require ${prefix}`,
        hint: `start it with ${prefix} (R3, R16), or change the other fields`,
      });
    }
  }
};
