import type { ApiRequest } from "../rules/request.js";
import { appendExchange } from "../sandbox/append-exchange.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import { startCall } from "./call.js";
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
 * handle(sandbox, receivedRequest({ method: "GET", path: "/v1/relying-party/me", query: "", headers })).status; // 401
 */
export function handle(sandbox: SandboxState, request: ApiRequest): Exchange {
  const call = startCall(sandbox, request);
  const { run } = sandbox.platform;
  const faulty = run === undefined && sandbox.faults.length === 0 ? undefined : applyFault(sandbox, call);
  const result = faulty ?? respondToCall(sandbox, call);
  const exchange = exchangeOf(sandbox, call, run?.end?.(sandbox, call, result) ?? result);
  appendExchange(sandbox, exchange, call);
  return exchange;
}
