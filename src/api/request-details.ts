import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { viewRequest } from "../sandbox/views.js";
import { adviceTable } from "../spec/advice.js";
import { authorizationChecks, type RequestCheck } from "../spec/authorize.js";
import { SandboxError } from "../spec/errors.js";
import { isFault, outcomeOf, type PathId } from "../spec/outcomes.js";
import { snakeCase } from "../spec/schema/json.js";
import type { Endpoint } from "./endpoint.js";
import { sentResponse } from "./handle.js";
import { scopeOf } from "./response.js";
import { endpointsOf, routeOf, withEndpoints } from "./routes.js";

const targetChecks: readonly RequestCheck[] = [
  { name: "path", question: "Does the API have this path?", rules: "R1", exits: ["404.unknown_path"] },
  { name: "method", question: "Does the path accept this method?", rules: "R1", exits: ["405.method"] },
];

const ownChecks: readonly RequestCheck[] = [
  {
    name: "input",
    question: "If the endpoint accepts a body or parameters: are they valid?",
    rules: "R49",
    exits: ["400.bad_request", "422.validation"],
  },
  {
    name: "record",
    question: "If the request is about a record: does it exist, and does its state allow the change?",
    rules: "R49",
    exits: ["404.unknown_record", "422.idempotency_key", "409.conflict"],
  },
];

/** Every check of a request to these endpoints, in order. */
export function requestChecksOf(endpoints: readonly Endpoint[]): readonly RequestCheck[] {
  const rejections: readonly string[] = endpoints.flatMap((one) => one.rejections ?? []);
  const own = ownChecks.filter(({ exits }) => exits.some((path) => rejections.includes(path)));
  return [...targetChecks, ...authorizationChecks, ...own];
}

/** The results of these checks for a request with this path id; a request with a fault has reached none. */
export function checkResults(checks: readonly RequestCheck[], pathId: PathId) {
  let isOver = isFault(pathId);
  return checks.map(({ name, question, rules, exits }) => {
    const isRejected = !isOver && (exits as readonly PathId[]).includes(pathId);
    const result = isRejected
      ? ("rejected" as const)
      : isOver
        ? ("not_reached" as const)
        : ("passed" as const);
    isOver ||= isRejected;
    return { name, question, rules, result };
  });
}

/** A request in the spelling of JSON. */
export function requestJson(exchange: Exchange): Record<string, unknown> {
  return snakeCase(viewRequest(exchange)) as Record<string, unknown>;
}

/** Returns a request of the journal; throws `not_found` for an unknown id. */
export function requireRequest({ history }: SandboxState, id: string): Exchange {
  const exchange = history.find(id);
  if (exchange !== undefined) return exchange;
  const message = `There is no request ${JSON.stringify(id)}. The journal keeps the last 1,000 requests of the running scenario.`;
  throw new SandboxError("not_found", message);
}

/** All details of a request in the journal; throws `not_found` for an unknown id. */
export function requestDetails(world: SandboxState, id: string) {
  const { registry } = world;
  const exchange = requireRequest(world, id);
  const { pathId, advice, response, delivery } = exchange;
  const { when, whatToDo } = outcomeOf(pathId);
  const endpoint = routeOf(world, exchange.path, exchange.at)?.methods.get(exchange.method);
  return {
    ...viewRequest(exchange),
    requiredScope: endpoint === undefined ? null : scopeOf(endpoint, world),
    keyScopes: registry.keys.get(exchange.key ?? "")?.key.scopes ?? null,
    checks: checkResults(requestChecksOf(endpointsOf(world)), pathId),
    response: response.status !== 0 ? sentResponse(response, delivery) : null,
    when,
    whatToDo,
    adviceDetails: adviceTable
      .filter((row) => advice.includes(row.id))
      .map(({ whatToDo, ...row }) => ({ ...row, whatToDo: withEndpoints(whatToDo, endpointsOf(world)) })),
  };
}
