import { appendExchange } from "../sandbox/append-exchange.js";
import type { Ending, Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ApiRequest } from "../spec/request.js";
import { type ApiCall, beginCall } from "./call.js";
import { exchangeOf } from "./exchange.js";
import { applyFault } from "./faults.js";
import { respondToCall } from "./response.js";

/**
 * Responds to a request to the API and records it.
 *
 * Synchronous; never throws on its own: every request has a response. Counts the request against the key's limits
 * (R24). If a fault hit the response, deliver it according to `delivery`.
 *
 * @example
 * const headers = ["x-api-key", "SVC_test_sbx0abc"];
 * handle(world, receivedRequest({ method: "GET", path: "/v1/relying-party/me", query: "", headers })).status; // 401
 */
export function handle(world: SandboxState, request: ApiRequest): Exchange {
  const call = beginCall(world, request);
  const faulty = world.faults.length === 0 ? undefined : applyFault(world, call);
  const ending = faulty ?? respondToCall(world, call);
  return completeCall(world, call, world.variant?.end?.(world, call, ending) ?? ending);
}

/** Records a call with its response. */
export function completeCall(world: SandboxState, call: ApiCall, ending: Ending): Exchange {
  const exchange = exchangeOf(world, call, ending);
  appendExchange(world, exchange, call);
  return exchange;
}
