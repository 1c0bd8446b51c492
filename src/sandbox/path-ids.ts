import { outcomes } from "../rules/outcomes.js";
import type { Path } from "../rules/schema/shape.js";
import { nearest, quote } from "../rules/schema/words.js";
import type { FaultFields } from "../scenario/checks/faults.js";
import type { ScenarioMistake } from "../scenario/problems.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import type { ServedEndpoint } from "./sandbox.js";

type Unknown = ScenarioMistake & { readonly hint: string };

type Named = readonly [name: string | undefined, ...path: Path];

/** The names in a scenario that its sandbox lacks: successes in faults and stories. */
export function unknownEndpoints(
  { faults, timeline = [], story = [] }: Scenario,
  endpoints: readonly ServedEndpoint[],
): Unknown[] {
  const steps = Object.entries({ timeline, story }).flatMap(([list, all]) =>
    all.flatMap((step, index) => pathsIn(step.faults, list, index)),
  );
  const expected = story.map(({ expect }, index): Named => [expect?.path, "story", index, "expect", "path"]);
  return unknownPaths([...pathsIn(faults), ...steps, ...expected], endpoints);
}

export function unknownFaultPaths(
  faults: readonly FaultFields[],
  endpoints: readonly ServedEndpoint[],
): Unknown[] {
  return unknownPaths(pathsIn(faults), endpoints);
}

function pathsIn(faults: readonly FaultFields[] = [], ...path: Path): Named[] {
  return faults.map(({ when }, index) => [when?.path_id, ...path, "faults", index, "when", "path_id"]);
}

function unknownPaths(named: readonly Named[], endpoints: readonly ServedEndpoint[]): Unknown[] {
  const others = endpoints.filter(({ responsesContext }) => responsesContext === undefined);
  const successPaths = others.map(({ status = 200, operationId }) => `${status}.${operationId}`);
  const pathIds = [...outcomes.map(({ path }) => path), ...successPaths];
  return named.flatMap(([name, ...path]): Unknown[] => {
    if (name === undefined || pathIds.includes(name)) return [];
    const near = nearest(name, pathIds);
    const hint = near ? `did you mean ${near}?` : "the report of a sandbox lists its endpoints and paths";
    return [{ code: "bad_choice", path, message: `the sandbox has no path ${quote(name)}`, hint }];
  });
}
