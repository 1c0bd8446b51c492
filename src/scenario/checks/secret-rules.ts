import { parseApiKey, prefixOf } from "../../rules/keys/key-text.js";
import { fieldOfKey, isLegacy } from "../keys/scenario-keys.js";
import { duplicateSecretsAndIds } from "./duplicate-values.js";
import type { ScenarioRule } from "./rule-input.js";

/** A pinned secret or id is unique (R12); a secret is well-formed and agrees with the key's fields (R3, R10, R16). */
export const secretsMatchKeys: ScenarioRule = ({ scenario, keys, problems }) => {
  for (const problem of duplicateSecretsAndIds(scenario)) problems.add({ ...problem, pointAt: "name" });

  for (const key of keys) {
    const { fields } = key;
    const keyField = fieldOfKey(key);
    const { secret, environment } = fields;
    if (secret === undefined) continue;
    const parsed = parseApiKey(secret);
    const prefix = prefixOf(environment, isLegacy(fields));
    if (parsed === undefined) {
      problems.add({
        code: "secret_malformed",
        field: [...keyField, "secret"],
        message: "the secret is not a well-formed key (R10)",
        hint: `start it with ${prefix}, followed by letters, digits, _ and -`,
      });
    } else if (parsed.prefix !== prefix) {
      problems.add({
        code: "secret_mismatch",
        field: [...keyField, "secret"],
        message: `the secret starts with ${parsed.prefix}, but environment and legacy require ${prefix}`,
        hint: `start it with ${prefix} (R3, R16), or change the other fields`,
      });
    }
  }
};
