import { cachedByObject } from "../../rules/cached-by.js";
import { type OutcomeId, outcomes } from "../../rules/outcomes.js";
import type { FieldPath } from "../../schema/field-path.js";
import { nearest, quote } from "../../schema/words.js";
import type { AddProblem } from "../problems.js";
import type { Scenario } from "../scenario.generated.js";
import { writtenEndpoints } from "../written-endpoints.js";

// A sandbox has the outcomes of the specification, and the success of each endpoint of its scenario: `200.listConsents`.

type Endpoints = NonNullable<Scenario["endpoints"]>;

const outcomesOfSpecification: ReadonlySet<string> = new Set(outcomes.map(({ id }) => id));

const noEndpoints: Endpoints = {};

/** Whether the success of each endpoint has a body, by its outcome. Made once for many faults. */
const bodiesByOutcome = /* @__PURE__ */ cachedByObject(
  (endpoints: Endpoints): ReadonlyMap<string, boolean> => {
    const hasBodyByOutcome = new Map<string, boolean>();
    for (const [name, { status = 200, body }] of writtenEndpoints({ endpoints })) {
      hasBodyByOutcome.set(`${status}.${name}`, body !== undefined);
    }
    return hasBodyByOutcome;
  },
);

/** Adds a problem for an outcome that the sandbox does not have; to write none is fine. */
export function checkOutcome(
  outcome: OutcomeId | undefined,
  field: FieldPath,
  endpoints: Endpoints | undefined,
  addProblem: AddProblem,
): void {
  if (outcome === undefined) return;
  const successes = bodiesByOutcome(endpoints ?? noEndpoints);
  if (outcomesOfSpecification.has(outcome) || successes.has(outcome)) return;
  const message = `the sandbox has no outcome ${quote(outcome)}`;
  addProblem({ code: "bad_choice", field, message }, () => {
    const near = nearest(outcome, [...outcomesOfSpecification, ...successes.keys()]);
    if (near === undefined) return "the report of a sandbox lists its endpoints and outcomes";
    return `did you mean ${near}?`;
  });
}

/** Whether responses with an outcome have a body: each error and `/me` do, an endpoint of the scenario may have none. */
export function hasBody(outcome: OutcomeId, endpoints: Endpoints | undefined): boolean {
  return bodiesByOutcome(endpoints ?? noEndpoints).get(outcome) ?? true;
}
