import type { ScenarioMistake } from "../scenario/problems.js";
import type { FaultFields } from "../scenario/rules/faults.js";
import type { Scenario } from "../scenario/scenario.generated.js";
import { outcomes } from "../spec/outcomes.js";
import type { Path } from "../spec/schema/shape.js";
import { nearest, quote } from "../spec/schema/words.js";
import type { ServedEndpoint } from "./sandbox.js";

type Unknown = ScenarioMistake & { readonly hint: string };

type Named = readonly [name: string | undefined, ...path: Path];

/** The names in a scenario that its sandbox lacks: successes in faults and stories, operations in changes. */
export function unknownEndpoints(
  { faults, timeline = [], story = [], changes = {} }: Scenario,
  endpoints: readonly ServedEndpoint[],
): Unknown[] {
  const steps = Object.entries({ timeline, story }).flatMap(([list, all]) =>
    all.flatMap((step, index) => pathsIn(step.faults, list, index)),
  );
  const expected = story.map(({ expect }, index): Named => [expect?.path, "story", index, "expect", "path"]);
  const operations = Object.entries(changes).map(
    ([ref, { operation }]): Named => [operation, "changes", ref, "operation"],
  );
  const ids = endpoints.map(({ operationId }) => operationId);
  return [
    ...unknownPaths([...pathsIn(faults), ...steps, ...expected], endpoints),
    ...unknownIn(operations, ids, "endpoint with the operation id"),
  ];
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
  const own = others.map(({ status = 200, operationId }) => `${status}.${operationId}`);
  return unknownIn(named, [...outcomes.map(({ path }) => path), ...own], "path");
}

function unknownIn(named: readonly Named[], known: readonly string[], what: string): Unknown[] {
  return named.flatMap(([name, ...path]): Unknown[] => {
    if (name === undefined || known.includes(name)) return [];
    const near = nearest(name, known);
    const hint = near ? `did you mean ${near}?` : "the report of a sandbox lists its endpoints and paths";
    return [{ code: "bad_choice", path, message: `the sandbox has no ${what} ${quote(name)}`, hint }];
  });
}
