import { type OutcomeId, outcomes } from "../../rules/outcomes.js";
import type { FieldPath } from "../../schema/field-path.js";
import { nearest, quote } from "../../schema/words.js";
import type { ProblemList } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";

// A sandbox has the outcomes of the specification, and the success of each endpoint of its scenario: `200.listConsents`.

const outcomesOfSpecification: ReadonlySet<string> = new Set(outcomes.map(({ id }) => id));

/** Whether the success of each endpoint of a scenario has a body, by its outcome. */
export type EndpointSuccesses = ReadonlyMap<string, { readonly hasBody: boolean }>;

export function successesOf(scenario: Pick<Scenario, "endpoints">): EndpointSuccesses {
  const successes = new Map<string, { readonly hasBody: boolean }>();
  for (const [name, { status = 200, body }] of writtenEndpoints(scenario)) {
    successes.set(`${status}.${name}`, { hasBody: body !== undefined });
  }
  return successes;
}

/** Adds a problem for an outcome that the sandbox does not have; to write none is fine. */
export function checkOutcome(
  outcome: OutcomeId | undefined,
  field: FieldPath,
  successes: EndpointSuccesses,
  problems: ProblemList,
): void {
  if (outcome === undefined || outcomesOfSpecification.has(outcome) || successes.has(outcome)) return;
  // The hint takes time, and nobody would see it.
  if (problems.isFull) return;
  const near = nearest(outcome, [...outcomesOfSpecification, ...successes.keys()]);
  let hint = "the report of a sandbox lists its endpoints and outcomes";
  if (near !== undefined) hint = `did you mean ${near}?`;
  problems.add({ code: "bad_choice", field, message: `the sandbox has no outcome ${quote(outcome)}`, hint });
}
