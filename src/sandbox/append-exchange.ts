import { controlPath } from "../rules/request-path.js";
import type { ApiCall } from "./api-call.js";
import { advise } from "./journal/client-behavior.js";
import type { KeysOfAdvice } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import type { RunTrace } from "./run-trace.js";
import type { SandboxState } from "./sandbox-state.js";

/** Appends an exchange to the journal, with advice, and counts it for the report: the journal forgets, the counters do not. `keys`: of advice on other keys than the presented one. `trace`: what a client's run shows with it. */
export function appendExchange(
  sandbox: SandboxState,
  exchange: Exchange,
  call: ApiCall,
  keys: KeysOfAdvice | undefined,
  trace: RunTrace | undefined,
): void {
  if (isCounted(exchange)) {
    const { run } = sandbox;
    // No advice if the response hides what was wrong with the request.
    if (!run?.hidesOutcomes && !isUnremarkable(sandbox, exchange)) advise(sandbox, call, exchange);
    sandbox.counters.count(exchange, keys, trace);
  }
  sandbox.journal.record(exchange);
}

/** Whether the report counts a request: a client sent it to the API. */
function isCounted({ fromStory, isProbe, isMisdirected, path }: Exchange): boolean {
  return !fromStory && !isProbe && !(isMisdirected && path.includes(`${controlPath}/`));
}

// True for nearly every 200: no advice depends on it.
function isUnremarkable(
  { behavior }: SandboxState,
  { traits, outcome, leaksRealKey, fingerprint }: Exchange,
): boolean {
  const isSuccess = outcome === "200.test" || outcome === "200.live";
  return isSuccess && traits.length === 0 && !leaksRealKey && !behavior.rejected.has(fingerprint ?? "");
}
