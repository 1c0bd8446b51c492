import type { FieldPath } from "../schema/field-path.js";
import type { Scenario } from "./scenario.generated.js";

type WrittenEndpoint = NonNullable<NonNullable<Scenario["endpoints"]>[string]>;

/** The endpoints of a scenario by their operation ids, in the order of the file. */
export function writtenEndpoints(scenario: Pick<Scenario, "endpoints">): [name: string, WrittenEndpoint][] {
  const written: [string, WrittenEndpoint][] = [];
  for (const [name, endpoint] of Object.entries(scenario.endpoints ?? {})) {
    if (endpoint !== null) written.push([name, endpoint]);
  }
  return written;
}

/** The numbers in the bodies that a scenario sends, or compares with responses. */
export function* numbersOfBodies(scenario: Scenario): Generator<readonly [field: FieldPath, number]> {
  for (const [name, { body }] of writtenEndpoints(scenario)) {
    yield* numbersIn(body, ["endpoints", name, "body"]);
  }
  for (const [index, { request, expect }] of (scenario.story ?? []).entries()) {
    yield* numbersIn(request?.body, ["story", index, "request", "body"]);
    yield* numbersIn(expect?.body, ["story", index, "expect", "body"]);
  }
}

function* numbersIn(part: unknown, field: FieldPath): Generator<readonly [field: FieldPath, number]> {
  if (typeof part === "number") yield [field, part];
  if (typeof part !== "object" || part === null) return;

  const isList = Array.isArray(part);
  for (const [name, inner] of Object.entries(part)) {
    const nameOrIndex = isList ? Number(name) : name;
    yield* numbersIn(inner, [...field, nameOrIndex]);
  }
}
