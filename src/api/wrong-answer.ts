import { isSuccess } from "../rules/outcomes.js";
import type { CallResult } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox.js";
import type { ApiCall } from "./call.js";
import { contextOf, me } from "./endpoints/me.js";
import { jsonBody } from "./messages.js";
import { rejectCall, successResponse } from "./response.js";

/** Returns a result with the wrong response: 401 for a key that works, 200 for any other. It keeps its path id. */
export function wrongAnswer(sandbox: SandboxState, call: ApiCall, result: CallResult): CallResult {
  if (!isSuccess(result.pathId)) return { ...result, response: acceptance(sandbox, call), code: null };
  const { response, code } = rejectCall(sandbox, call, { path: "401.unknown" });
  return { ...result, response, code };
}

// As if the key had passed each check; an unknown key, or another endpoint than `/me`, gets the documented example.
function acceptance(sandbox: SandboxState, call: ApiCall): CallResult["response"] {
  const { entry, endpoint = me } = call;
  if (entry === undefined || endpoint !== me) {
    const documented = endpoint.documented?.(endpoint.status ?? 200, sandbox);
    return successResponse(sandbox, call, endpoint, documented ?? jsonBody(me.responseExample));
  }
  const usage = { ...entry.usage, dayCount: entry.usage.dayCount + 1 };
  return successResponse(sandbox, call, me, contextOf({ ...entry, usage }));
}
