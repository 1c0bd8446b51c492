import type { Exchange } from "../sandbox/history/exchange.js";
import type { World } from "../sandbox/world.js";
import { adviceTable } from "../spec/advice.js";
import { SandboxError } from "../spec/errors.js";
import { outcomeOf } from "../spec/outcomes.js";
import { scopeOf } from "./answer.js";
import { routeOf } from "./changes.js";
import { gateResults } from "./gate.js";
import { requestLine } from "./request-line.js";
import { sentAnswer } from "./story-sender.js";

/** Returns a request of the journal; throws `not_found` for an unknown id. */
export function requireRequest({ history }: World, id: string): Exchange {
  const exchange = history.find(id);
  if (exchange !== undefined) return exchange;
  const message = `There is no request ${JSON.stringify(id)}. The journal keeps the last 1,000 requests of the running scenario.`;
  throw new SandboxError("not_found", message);
}

/** All details of a request in the journal; throws `not_found` for an unknown id. */
export function requestDetails(world: World, id: string): Record<string, unknown> {
  const { preview, registry } = world;
  const exchange = requireRequest(world, id);
  const { pathId, advice, answer, delivery } = exchange;
  const { when, whatToDo } = outcomeOf(pathId);
  const endpoint = routeOf(world, exchange.path, exchange.at)?.methods.get(exchange.method);
  return {
    ...requestLine(exchange),
    required_scope: endpoint === undefined ? null : scopeOf(endpoint, world),
    key_scopes: registry.keys.get(exchange.key ?? "")?.key.scopes ?? null,
    checks: gateResults(pathId, preview),
    answer: answer.status !== 0 ? sentAnswer(answer, delivery) : null,
    when,
    what_to_do: whatToDo,
    advice_details: adviceTable
      .filter((row) => advice.includes(row.id))
      .map(({ id, level, rule, meaning, whatToDo }) => ({ id, level, rule, meaning, what_to_do: whatToDo })),
  };
}
