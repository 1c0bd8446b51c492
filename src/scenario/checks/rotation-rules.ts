import type { KeySettings } from "../../rules/key-state.js";
import { canonicalJson } from "../../schema/json-text.js";
import { listed, quote } from "../../schema/words.js";
import { readLimits } from "../keys/key-settings.js";
import { rotationsOf } from "../keys/rotations.js";
import { fieldOfKey, type KeyFields } from "../keys/scenario-keys.js";
import type { ScenarioRule } from "./rule-input.js";

/** What a replacement has of the old key, besides its organization and environment. */
const settingNames = ["name", "scopes", "limits"] as const satisfies (keyof KeySettings)[];

/** The keys of a rotation have the same settings (R26, R37). A key that leaves a setting out has that of the others. */
export const settingsAreShared: ScenarioRule = ({ keys, problems }) => {
  for (const rotation of rotationsOf(keys)) {
    for (const name of settingNames) {
      const withSetting = rotation.filter(({ fields }) => fields[name] !== undefined);
      for (const [index, old] of withSetting.entries()) {
        const newer = withSetting[index + 1];
        if (newer === undefined) continue;
        if (comparableSetting(name, newer.fields) === comparableSetting(name, old.fields)) continue;
        problems.add({
          code: "replacement_differs",
          field: [...fieldOfKey(newer), name],
          message: `${name} of ${quote(newer.ref)} differs from ${quote(old.ref)}, which it replaces`,
          hint: `a replacement has the ${listed(settingNames, "and")} of the old key (R26, R37); remove ${name} from one of them`,
        });
      }
    }
  }
};

/** A setting as JSON that is equal for equal settings: scopes in alphabetical order, and both limits with their defaults. */
function comparableSetting(name: keyof KeySettings, { scopes = [], ...fields }: KeyFields): string {
  if (name === "scopes") return JSON.stringify([...scopes].sort());
  if (name === "limits") return canonicalJson(readLimits(fields.limits));
  return JSON.stringify(fields.name);
}
