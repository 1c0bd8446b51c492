import { me } from "../api/endpoints/me.js";
import { renderRejection, renderSuccess } from "../api/respond.js";
import { isSuccess } from "../rules/outcomes.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import type { RunConditions } from "./conditions.js";

/** Returns the result that replaces a call's. Default: none. */
type ReplaceResult = (sandbox: SandboxState, call: ApiCall, result: CallResult) => CallResult | undefined;

/** Starts to give the requests with an outcome, or the first of them, the wrong answer. */
export function startAnswering(
  answer: RunConditions["answer"],
  claim: (name: string) => boolean,
): ReplaceResult {
  return (sandbox, call, result) => {
    const isWrong =
      result.outcome === answer?.outcome && result.fault === undefined && call.endpoint !== undefined;
    return isWrong && (!answer.once || claim("answer")) ? wrongAnswer(sandbox, call, result) : undefined;
  };
}

/** Returns a result with the wrong response: 401 for a key that works, and 200 for any other. It keeps its outcome. */
function wrongAnswer(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult {
  if (!isSuccess(result.outcome)) return { ...result, response: acceptance(sandbox, call), code: null };
  const { response, code } = renderRejection(sandbox, call, { outcome: "401.unknown" });
  return { ...result, response, code };
}

// As if the key had passed each check.
function acceptance(sandbox: SandboxState, call: ApiCall): CallResult["response"] {
  const { entry, endpoint = me } = call;
  const caller = entry && { ...entry, usage: { ...entry.usage, dayCount: entry.usage.dayCount + 1 } };
  return renderSuccess(sandbox, call, endpoint, endpoint.respond(caller));
}
