import { scenarioLimits } from "../format/scenario-limits.js";
import { populationOf } from "../keys/population.js";
import { writtenEndpoints } from "../written-endpoints.js";
import type { ScenarioRule } from "./rule-input.js";

// The other rules compare keys and endpoints with each other: with too many of them, this would take long.

/** A scenario's keys fit in memory. Keys that were created at run time do not count: snapshots write them as hashes. */
const keysWithinMaximum: ScenarioRule = ({ scenario, keys, problems }) => {
  const { organizations, keysEach } = populationOf(scenario);
  const populated = organizations * keysEach;
  const listed = keys.filter(({ fields }) => fields.sha256 === undefined).length;
  const count = populated + listed;
  if (count <= scenarioLimits.keys) return;

  let field = "organizations";
  let hint = "remove keys";
  if (populated > 0) {
    field = "population";
    hint = "lower population.organizations or population.keys_per_organization";
  }
  problems.add({
    code: "too_many_keys",
    field: [field],
    message: `the scenario has ${count} keys; the maximum is ${scenarioLimits.keys}`,
    hint,
  });
};

const maxEndpoints = 100;

const endpointsWithinMaximum: ScenarioRule = ({ scenario, problems }) => {
  const count = writtenEndpoints(scenario).length;
  if (count <= maxEndpoints) return;
  problems.add({
    code: "out_of_range",
    field: ["endpoints"],
    pointAt: "name",
    message: `the scenario has ${count} endpoints, and at most ${maxEndpoints} are allowed`,
    hint: "remove some",
  });
};

export const sizeRules: readonly ScenarioRule[] = [keysWithinMaximum, endpointsWithinMaximum];
