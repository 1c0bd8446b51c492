import { redactKeys } from "../domain/api-key.js";
import type { PathId } from "../domain/outcomes.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import { admit, isAdmitted } from "./admit.js";
import { beginCall, recordCall } from "./call.js";
import type { ApiAnswer, ApiRequest } from "./messages.js";
import { redactPath } from "./redact-path.js";
import { errorReply, successReply, withoutBody } from "./reply.js";
import { routeAt } from "./routes.js";

/** An answer, and the path on which it was given; the path is for journals and doors, not for the caller. */
export interface Handled {
  readonly answer: ApiAnswer;
  readonly pathId: PathId;
}

/**
 * Answers one request to the API and writes it into the journal.
 *
 * Synchronous, and never throws: every request has an answer. Counts the request against the key's limits (R24).
 *
 * @example
 * handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey: undefined }).answer.status; // 401
 */
export function handle(world: World, request: ApiRequest): Handled {
  const { method, path, apiKey } = request;
  const call = beginCall(world, apiKey);

  const route = routeAt(path);
  const endpoint = route?.methods.get(method);
  let pathId: PathId;
  let answer: ApiAnswer;
  if (route === undefined) {
    pathId = "404.unknown_path";
    answer = errorReply(world, call, { path: pathId });
  } else if (endpoint === undefined) {
    pathId = "405.method";
    answer = errorReply(world, call, { path: pathId, allow: route.allow });
  } else {
    const scope = endpoint.scope(world.assumptions);
    pathId = admit(world, call, scope);
    answer = isAdmitted(pathId)
      ? successReply(world, call, endpoint.respond(call.entry as KeyEntry, world))
      : errorReply(world, call, { path: pathId, scope });
  }

  recordCall(world, call, {
    // What the API does not know may hold anything, keys included.
    method: endpoint === undefined ? redactKeys(method) : method,
    path: route === undefined ? redactPath(path) : route.path,
    pathId,
    status: answer.status,
  });
  return { pathId, answer: method === "HEAD" ? withoutBody(answer) : answer };
}
