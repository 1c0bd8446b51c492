import { SandboxError } from "../rules/errors.js";
import { outcomes } from "../rules/outcomes.js";
import { validationError } from "../rules/validation.js";
import { isReserved } from "../scenario/format/fields.js";
import type { expectationQuery, requestQuery } from "../scenario/format/inputs.js";
import type { ValueOf } from "../schema/shape.js";
import { didYouMean, quote } from "../schema/words.js";
import { successOutcomesOf } from "./call.js";
import { type RequestView, viewRequest } from "./journal/exchange.js";
import type { SandboxState } from "./sandbox-state.js";

export function listRequests(sandbox: SandboxState, query: ValueOf<typeof requestQuery>): RequestView[] {
  requireKnownFilter(sandbox, query);
  return sandbox.journal.requests(query).map(viewRequest);
}

/** Throws for a filter that no request can match: `unknown_ref` for an unknown key, `validation_failed` for an outcome that the sandbox does not have. */
function requireKnownFilter(
  { registry, endpoints }: SandboxState,
  filter: Pick<ValueOf<typeof requestQuery>, "outcome" | "key">,
): void {
  const { outcome, key } = filter;
  if (key !== undefined && !isReserved(key)) registry.key(key);
  if (outcome === undefined) return;

  const outcomeIds: string[] = outcomes.map(({ id }) => id);
  for (const endpoint of endpoints) outcomeIds.push(...successOutcomesOf(endpoint));
  if (outcomeIds.includes(outcome)) return;
  const problem = `outcome ${quote(outcome)} does not exist in this sandbox.${didYouMean(outcome, outcomeIds)}`;
  const message = `${problem} Its report lists all outcomes`;
  throw validationError("find requests", [{ field: ["outcome"], message }]);
}

/** Returns how many requests of clients match. Throws `expectation_failed` unless there are `count`; default: at least one. */
export function expectRequests(sandbox: SandboxState, query: ValueOf<typeof expectationQuery>): number {
  const { count, ...filter } = query;
  requireKnownFilter(sandbox, filter);
  const matching = sandbox.journal.requests({ source: "client", ...filter }).length;
  const isExpected = count === undefined ? matching > 0 : matching === count;
  if (isExpected) return matching;

  const message = `Expected ${count ?? "at least 1"} of these requests, found ${matching}. GET /requests lists all.`;
  throw new SandboxError("expectation_failed", message, { found: matching });
}
