import { controlPath } from "../rules/known-paths.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { advise } from "./advise.js";

/**
 * Appends an exchange to the journal, with advice, and counts it for the report: the journal forgets, the counters do not.
 * `trace` is what a client's run keeps of it.
 */
export function appendExchange(
  sandbox: SandboxState,
  exchange: Exchange,
  call: ApiCall,
  trace: object | undefined,
): void {
  if (isFromClient(exchange)) {
    // No advice if the responses of a run hide what was wrong with a request.
    if (!sandbox.run?.hidesOutcomes) advise(sandbox, call, exchange);
    sandbox.counters.count(exchange, trace);
  }
  sandbox.journal.record(exchange);
}

/** Whether a client sent a request to the API: no story, no probe, and no call of the control plane. */
function isFromClient(exchange: Exchange): boolean {
  if (exchange.fromStory || exchange.isProbe) return false;
  return !isLostControlCall(exchange);
}

/** Whether a request was meant for the control plane, at a wrong base URL: `/v1/__sandbox` or `/v1/__sandbox/keys`. */
function isLostControlCall({ isMisdirected, path }: Exchange): boolean {
  if (!isMisdirected) return false;
  return path.endsWith(controlPath) || path.includes(`${controlPath}/`);
}
