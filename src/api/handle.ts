import { fingerprintOf, noKey } from "../domain/api-key.js";
import type { FaultPathId, PathId } from "../domain/outcomes.js";
import { redactKeys, redactPath } from "../domain/redact.js";
import type { RequestTraits } from "../domain/request-traits.js";
import { noAdvice, type ObservedRequest, observe } from "../sandbox/behaviour/client-behaviour.js";
import type { AnswerDelivery, Connection } from "../sandbox/behaviour/known-answers.js";
import { entryOf, type RequestNote } from "../sandbox/journal.js";
import type { World } from "../sandbox/world.js";
import { answerCall, presentedAs } from "./answer.js";
import { applyFault, type Delivery, type FaultyEnding } from "./faults.js";
import { type DescribedLeaks, describeLeaks } from "./leaked-keys.js";
import { limitNamedBy, readLimits } from "./limits.js";
import type { ApiAnswer, ApiRequest } from "./messages.js";
import { type BegunCall, inPreview, withoutBody } from "./reply.js";
import { traitsTaken } from "./request-input.js";
import { routeAt } from "./routes.js";
import { variationOf } from "./variation/vary.js";

/** An answer and its path; the path is for journals and adapters, not for the caller. */
export interface Handled {
  readonly answer: ApiAnswer;
  readonly pathId: PathId;
  /** The fault that hit the request, also when it only delayed the answer. */
  readonly fault: FaultPathId | null;
  /** The delivery as a fault changed it; `undefined` to send the answer as it is. */
  readonly delivery: Delivery | undefined;
}

// The paths of our own tools, under any base URL: no client of the API calls them.
const ownPaths = "/__sandbox/";

/**
 * Answers one request to the API and writes it into the journal.
 *
 * Synchronous, and never throws by itself: every request has an answer. Counts the request against the key's limits
 * (R24). The answer to a request that meets a fault has to be delivered as `delivery` says.
 *
 * @example
 * handle(world, { method: "GET", path: "/v1/relying-party/me", apiKey: undefined }).answer.status; // 401
 */
export function handle(world: World, request: ApiRequest): Handled {
  const { method, path, apiKey, traits = 0, leaked } = request;
  const call = beginCall(world, apiKey);
  const route = routeAt(path, world.preview);
  const endpoint = route?.methods.get(method);
  const target = { request, route, endpoint };

  const faulty = world.faults.active.length === 0 ? undefined : applyFault(world, call, target);
  const { pathId, answer: given, code } = faulty ?? answerCall(world, call, target);
  const answer = route?.preview === true ? inPreview(given) : given;

  const unknownPath = route === undefined ? path : undefined;

  recordCall(world, call, {
    // Methods and paths that the API does not have may hold anything, keys included.
    method: endpoint === undefined ? redactKeys(method) : method,
    path: route === undefined || route.parameters.length > 0 ? redactPath(path) : route.path,
    pathId,
    status: answer.status,
    code,
    traits: endpoint?.input === undefined ? traits : traits & ~traitsTaken(endpoint.input),
    isMisdirected: endpoint === undefined,
    leaks: mayLeak(call, pathId, request, unknownPath)
      ? describeLeaks(world, call, { leaked, unknownPath })
      : undefined,
    isOurs: request.isTold === true || unknownPath?.includes(ownPaths) === true,
    connection: request.connection,
    delivery: request.delivery,
    faulty,
  });
  return {
    pathId,
    answer: method === "HEAD" ? withoutBody(answer) : answer,
    fault: faulty?.fault ?? null,
    delivery: faulty?.delivery,
  };
}

// Every 401 takes the same work (R14).
function mayLeak(
  { entry }: BegunCall,
  pathId: PathId,
  { leaked }: ApiRequest,
  unknownPath: string | undefined,
): boolean {
  return entry === undefined || pathId.startsWith("401") || leaked !== undefined || unknownPath !== undefined;
}

/** Begins a call: looks its key up and gives it its number. */
export function beginCall(world: World, apiKey: string | undefined): BegunCall {
  const started = world.platform.stopwatch();
  const now = world.clock.now();
  // Hashed and looked up in every case, so that the time taken does not tell the rejections apart (R14).
  const sha256 = world.platform.sha256(apiKey ?? noKey);
  const madeBefore = world.registry.made();
  const entry = world.registry.find(sha256);
  const isNewEntry = world.registry.made() > madeBefore;
  const number = world.requestIds.next();
  const variation = world.profile === "varied" ? variationOf(world, number) : undefined;
  const assumptions = variation === undefined ? world.assumptions : variation.assumptions;
  const presented = presentedAs(apiKey);
  return { started, now, number, apiKey, presented, sha256, entry, isNewEntry, assumptions, variation };
}

/** The end of a call, for journal, counters and advice. */
export interface CallEnding {
  readonly method: string;
  readonly path: string;
  readonly pathId: PathId;
  readonly status: number;
  /** The error code of the answer; `null` when it has none. */
  readonly code: string | null;
  readonly traits: RequestTraits;
  /** Whether the API does not have its path, or not with its method. */
  readonly isMisdirected: boolean;
  /** Default: no leaked keys. */
  readonly leaks?: DescribedLeaks | undefined;
  /** Whether a story or a tool of ours sent it: it is in the journal, and no client is judged by it. Default: false. */
  readonly isOurs?: boolean;
  /** Default: unknown. */
  readonly connection?: Connection | undefined;
  /** Default: delivered at once, or after the latency of a fault. */
  readonly delivery?: AnswerDelivery | undefined;
  /** Default: no fault. */
  readonly faulty?: Pick<FaultyEnding, "fault" | "delivery"> | undefined;
}

/** Writes a call into the journal. The method and path must be fit to be shown (R46). */
export function recordCall(world: World, call: BegunCall, ending: CallEnding): void {
  const { method, path, pathId, status, faulty, leaks, isOurs = false } = ending;
  const { started, now, number, apiKey, sha256, entry, variation } = call;
  const fingerprint = fingerprintOf(sha256);
  const delayMs = faulty === undefined ? 0 : faulty.delivery.delayMs;
  const note: RequestNote = {
    number,
    variedId: variation?.requestId,
    at: now,
    method,
    path,
    key: entry?.key,
    unknownKey: entry === undefined && apiKey !== undefined ? fingerprint : null,
    status,
    code: ending.code,
    pathId,
    fault: faulty === undefined ? null : faulty.fault,
    advice: isOurs ? noAdvice : observe(world, observed(world, call, ending, delayMs)),
    durationMs: world.platform.stopwatch() - started + delayMs,
  };
  world.journal.record(note);
  if (!isOurs) world.counters.count(note, world.requestIds.idOf, leaks?.keys);
  if (world.events.isHeard()) {
    world.events.announce({ type: "request", request: entryOf(note, world.requestIds.idOf) });
  }
}

function observed(world: World, call: BegunCall, ending: CallEnding, delayMs: number): ObservedRequest {
  const { apiKey, presented, sha256, entry, isNewEntry, now, started } = call;
  const { traits, leaks, isMisdirected, connection, pathId, method } = ending;
  const isLimited = pathId.startsWith("429") && entry !== undefined;
  return {
    apiKey,
    presented,
    sha256,
    entry,
    isNewEntry,
    traits,
    hasLeakedRealKey: leaks?.hasRealKey === true,
    isMisdirected,
    now,
    started,
    connection,
    delivery: ending.delivery ?? { at: started + delayMs },
    pathId,
    namedLimit: isLimited
      ? limitNamedBy(call.assumptions, readLimits(entry, world, now), { hasBody: method !== "HEAD" })
      : undefined,
  };
}
