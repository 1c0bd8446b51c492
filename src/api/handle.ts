import { fingerprintOf, redactKeys } from "../domain/api-key.js";
import { passGate } from "../domain/gate.js";
import type { PathId } from "../domain/outcomes.js";
import type { KeyEntry } from "../sandbox/registry.js";
import { countRequest } from "../sandbox/usage.js";
import type { World } from "../sandbox/world.js";
import type { Endpoint } from "./endpoint.js";
import { codeOf } from "./error-body.js";
import { gateFacts, presentedAs } from "./facts.js";
import type { ApiAnswer, ApiRequest } from "./messages.js";
import { redactPath } from "./redact-path.js";
import { errorReply, successReply, withHeader, withoutBody } from "./reply.js";
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
  const started = world.edge.stopwatch();
  // Read once: the gate decides, the counters count and the journal remembers at the same instant.
  const now = world.clock.now();
  const { method, path, apiKey } = request;
  // Hashed and looked up whatever was sent, so that the time taken does not tell the rejections apart (R14).
  const sha256 = world.edge.sha256(apiKey ?? "");
  const entry = world.registry.find(sha256);
  const requestId = world.requestIds.next();

  const route = routeAt(path);
  const endpoint = route?.methods.get(method);
  let pathId: PathId;
  let answer: ApiAnswer;
  if (route === undefined) {
    pathId = "404.unknown_path";
    answer = errorReply(pathId, world.assumptions);
  } else if (endpoint === undefined) {
    pathId = "405.method";
    answer = withHeader(errorReply(pathId, world.assumptions), "Allow", route.allow);
  } else {
    ({ pathId, answer } = call(world, endpoint, apiKey, entry, requestId, now));
  }

  world.journal.record({
    id: requestId,
    at: now,
    method: endpoint === undefined ? redactKeys(method) : method,
    path: route === undefined ? redactPath(path) : path,
    key: entry?.key.ref ?? null,
    fingerprint: apiKey === undefined ? null : fingerprintOf(sha256),
    status: answer.status,
    code: codeOf(pathId, world.assumptions),
    pathId,
    durationMs: world.edge.stopwatch() - started,
  });
  return { pathId, answer: method === "HEAD" ? withoutBody(answer) : answer };
}

function call(
  world: World,
  endpoint: Endpoint,
  apiKey: string | undefined,
  entry: KeyEntry | undefined,
  requestId: string,
  now: number,
): Handled {
  const { assumptions, windows } = world;
  const facts = gateFacts(world, presentedAs(apiKey), entry, endpoint.scope(assumptions), now);
  const pathId = passGate(facts);
  if (!pathId.startsWith("200")) {
    // Who holds no key of this world has no counter that could count.
    if (assumptions.count_refused && entry !== undefined) countRequest(entry.usage, windows, now);
    return { pathId, answer: errorReply(pathId, assumptions) };
  }
  const caller = entry as KeyEntry;
  countRequest(caller.usage, windows, now);
  return { pathId, answer: successReply(endpoint.respond(caller, world), requestId) };
}
