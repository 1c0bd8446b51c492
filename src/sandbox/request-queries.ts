import { SandboxError } from "../rules/errors.js";
import { outcomes } from "../rules/outcomes.js";
import { isoTime } from "../rules/time.js";
import { validationError } from "../rules/validation.js";
import { isReserved } from "../scenario/format/fields.js";
import type { expectationQuery, requestQuery } from "../scenario/format/inputs.js";
import type { ValueOf } from "../schema/shape.js";
import { didYouMean, quote } from "../schema/words.js";
import { successOutcomesOf } from "./call.js";
import { type RequestView, viewRequest } from "./journal/exchange.js";
import { matchedParts, type RequestFilter } from "./journal/journal.js";
import type { SandboxState } from "./sandbox-state.js";

export function listRequests(sandbox: SandboxState, query: ValueOf<typeof requestQuery>): RequestView[] {
  requireKnownFilter(sandbox, query);
  return sandbox.journal.requests(query).map(viewRequest);
}

/** Throws for a filter that no request can match: `unknown_ref` for an unknown key, `validation_failed` for an outcome that the sandbox does not have. */
function requireKnownFilter({ registry, endpoints }: SandboxState, filter: RequestFilter): void {
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

/** Returns how many requests of clients match. Throws `expectation_failed`, with the five nearest ones, unless there are `count`; default: at least one. */
export function expectRequests(sandbox: SandboxState, query: ValueOf<typeof expectationQuery>): number {
  const { count, faults, ...filter } = query;
  requireKnownFilter(sandbox, filter);
  const { journal } = sandbox;
  const matching = journal.requests({ source: "client", faults, ...filter }).length;
  const isExpected = count === undefined ? matching > 0 : matching === count;
  if (isExpected) return matching;

  // Those that match most of the filter first; of those that match as much, the latest first.
  const byNearness = journal.requests({ source: "client", faults }).reverse();
  byNearness.sort((before, after) => matchedParts(after, filter) - matchedParts(before, filter));
  const nearest = byNearness.slice(0, 5).map(({ id, at, key, status, outcome }) => {
    return { id, at: isoTime(at), key, status, outcome };
  });

  const sentences = [`Expected ${expectedRequests(count, filter)}, found ${matching}.`];
  const texts = nearest.map(({ id, key, outcome }) => `${outcome} with ${key ?? "no known key"} (${id})`);
  if (texts.length === 0) sentences.push("The journal has no request of a client.");
  else sentences.push(`Nearest: ${texts.join(", ")}.`);
  const total = journal.total();
  const inJournal = journal.requests().length;
  if (inJournal < total) {
    sentences.push(`The journal has only the last ${inJournal} of ${total} requests; the report counts all.`);
  }
  throw new SandboxError("expectation_failed", sentences.join(" "), { found: matching, nearest });
}

/** The expectation in words: `2 requests with 401.revoked and the key main`. */
function expectedRequests(count: number | undefined, filter: RequestFilter): string {
  const noun = count === undefined || count === 1 ? "request" : "requests";
  const requests = `${count ?? "at least 1"} ${noun}`;
  const conditions: string[] = [];
  if (filter.outcome !== undefined) conditions.push(filter.outcome);
  if (filter.key !== undefined) conditions.push(`the key ${filter.key}`);
  return conditions.length === 0 ? requests : `${requests} with ${conditions.join(" and ")}`;
}
