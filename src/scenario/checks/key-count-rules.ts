import { countsAsActive, maximumActiveKeys } from "../../rules/key-state.js";
import { quote } from "../../schema/words.js";
import { scenarioLimits } from "../format/scenario-limits.js";
import { keyStateAtStart } from "../keys/key-ends.js";
import { populationOf } from "../keys/population.js";
import { fieldOfKey, type ScenarioKey } from "../keys/scenario-keys.js";
import type { RuleInput, ScenarioRule } from "./rule-input.js";

/** Counts the keys that a sandbox starts with. Keys created at run time, which snapshots write as hashes, do not count. */
export function countedKeys(input: RuleInput): { populated: number; count: number } {
  const { organizations, keysEach } = populationOf(input.scenario);
  const populated = organizations * keysEach;
  const written = input.keys.filter(({ fields }) => fields.sha256 === undefined).length;
  return { populated, count: populated + written };
}

/** A scenario's keys fit in memory. */
const keysWithinMaximum: ScenarioRule = (input) => {
  const { populated, count } = countedKeys(input);
  if (count <= scenarioLimits.keys) return;

  let field = "organizations";
  let hint = "remove keys";
  if (populated > 0) {
    field = "population";
    hint = "lower population.organizations or population.keys_per_organization";
  }
  input.addProblem({
    code: "too_many_keys",
    field: [field],
    message: `the scenario has ${count} keys; the maximum is ${scenarioLimits.keys}`,
    hint,
  });
};

/** An organization has at most five active keys in an environment (R32). */
const activeKeysWithinLimit: ScenarioRule = (input) => {
  const groups = new Map<string, ScenarioKey[]>();
  for (const key of input.keys) {
    if (!countsAsActiveAtStart(key, input)) continue;
    const id = `${key.fields.environment} ${key.organization}`;
    const group = groups.get(id);
    if (group === undefined) groups.set(id, [key]);
    else group.push(key);
  }

  for (const active of groups.values()) {
    const [firstTooMany] = active.slice(maximumActiveKeys);
    if (firstTooMany === undefined) continue;
    const { organization, fields } = firstTooMany;
    input.addProblem({
      code: "too_many_active_keys",
      field: fieldOfKey(firstTooMany),
      pointAt: "name",
      message: `${quote(organization)} has ${active.length} active ${fields.environment} keys`,
      hint: `R32 allows ${maximumActiveKeys} per organization and environment; revoke some or use another organization`,
    });
  }
};

/** Whether a key counts as active when the clock starts (R32). */
function countsAsActiveAtStart({ fields }: ScenarioKey, { start, assumptions }: RuleInput): boolean {
  const stateAtStart = keyStateAtStart(fields, start);
  if (stateAtStart !== "unknown") return countsAsActive(stateAtStart, assumptions);

  // Only what is wrong at any start is a problem: an active key may have expired by then. A retiring key counts as it is written.
  return fields.state === "retiring" && countsAsActive("retiring", assumptions);
}

export const keyCountRules: readonly ScenarioRule[] = [keysWithinMaximum, activeKeysWithinLimit];
