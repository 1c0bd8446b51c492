import type { Scenario } from "./scenario.generated.js";

type WrittenEndpoint = NonNullable<NonNullable<Scenario["endpoints"]>[string]>;

/** The endpoints of a scenario by their operation ids, in the order of the file. */
export function writtenEndpoints({
  endpoints = {},
}: Pick<Scenario, "endpoints">): [name: string, WrittenEndpoint][] {
  return Object.entries(endpoints).flatMap(([name, endpoint]) =>
    endpoint === null ? [] : [[name, endpoint]],
  );
}
