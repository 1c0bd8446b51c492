import { isWellFormedKey, type PresentedKind } from "../rules/keys/key-text.js";
import type { ApiRequest } from "../rules/request.js";
import type { ApiCall } from "../sandbox/api-call.js";
import { runDue } from "../sandbox/operations/run-due.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { isStepDue } from "../sandbox/timeline.js";
import { routeAt } from "./routes.js";

/** Starts a call: runs what is due before it, looks up its key and its route, and assigns its number. */
export function startCall(sandbox: SandboxState, request: ApiRequest): ApiCall {
  const { apiKey, keyHash } = request;
  const started = sandbox.platform.stopwatch();
  const now = sandbox.clock.now();

  // Also runs a step that has become due since this instant: `runDue` reads the clock again.
  if (isStepDue(sandbox.timeline, now)) runDue(sandbox);

  const sha256 = apiKey === undefined ? "" : (keyHash ?? sandbox.platform.sha256(apiKey));
  const entry = sandbox.registry.find(sha256);
  const { number, id } = sandbox.requestIds.next();
  const route = routeAt(sandbox.endpoints, request.path);
  return {
    request,
    route,
    endpoint: route?.methods.get(request.method),
    started,
    now,
    presented: presentedAs(apiKey),
    sha256,
    entry,
    number,
    id,
    assumptions: sandbox.assumptions,
  };
}

/** The kind of the presented key (R9, R10). An empty header is malformed, not missing. */
function presentedAs(apiKey: string | undefined): PresentedKind {
  if (apiKey === undefined) return "missing";
  return isWellFormedKey(apiKey) ? "well_formed" : "malformed";
}
