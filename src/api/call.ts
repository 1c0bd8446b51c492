import { fingerprintOf } from "../domain/api-key.js";
import type { Assumptions } from "../domain/assumptions.js";
import type { FaultPathId, PathId } from "../domain/outcomes.js";
import type { RequestTraits } from "../domain/request-traits.js";
import { noAdvice, type ObservedRequest, observe } from "../sandbox/behaviour/client-behaviour.js";
import type { AnswerDelivery, Connection } from "../sandbox/behaviour/known-answers.js";
import { entryOf, type RequestNote } from "../sandbox/journal.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import type { Delivery } from "./faults.js";
import type { DescribedLeaks } from "./leaked-keys.js";
import { limitNamedBy, readLimits } from "./limit-reading.js";
import { codeOf } from "./reply.js";
import { type Variation, variationOf } from "./variation/vary.js";

/** A call that has begun: when, as which request, and whose key came with it. */
export interface BegunCall {
  /** On the stopwatch. */
  readonly started: number;
  /** On the sandbox's clock; read once: the gate decides, the counters count and the journal remembers at one instant. */
  readonly now: number;
  readonly number: number;
  readonly apiKey: string | undefined;
  readonly sha256: string;
  readonly entry: KeyEntry | undefined;
  /** How its answer is varied; `undefined` but in the profile `varied`. */
  readonly variation: Variation | undefined;
}

/** Begins a call: looks the key up and counts the request. */
export function beginCall(world: World, apiKey: string | undefined): BegunCall {
  const started = world.platform.stopwatch();
  const now = world.clock.now();
  // Hashed and looked up whatever was sent, so that the time taken does not tell the rejections apart (R14).
  const sha256 = world.platform.sha256(apiKey ?? "");
  const entry = world.registry.find(sha256);
  const number = world.requestIds.next();
  const variation = world.profile === "varied" ? variationOf(world, number) : undefined;
  return { started, now, number, apiKey, sha256, entry, variation };
}

/** What is assumed for the answer to a call. */
export function assumedFor(world: World, { variation }: BegunCall): Assumptions {
  return variation === undefined ? world.assumptions : variation.assumptions;
}

/** The id of a call, whether or not its answer carries it. */
export function requestIdOf(world: World, { number, variation }: BegunCall): string {
  return variation === undefined ? world.requestIds.idOf(number) : variation.requestId;
}

/** The end of a call, for journal, counters and advice. */
export interface CallEnding {
  readonly method: string;
  readonly path: string;
  readonly pathId: PathId;
  readonly status: number;
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
  readonly faulty?:
    | { readonly fault: FaultPathId; readonly code: string | null; readonly delivery: Delivery }
    | undefined;
}

/** Writes a call into the journal. The method and path must be fit to be shown (R46). */
export function recordCall(world: World, call: BegunCall, ending: CallEnding): void {
  const { method, path, pathId, status, faulty, leaks, isOurs = false } = ending;
  const { started, now, number, apiKey, sha256, entry, variation } = call;
  const isUnknownKey = entry === undefined && apiKey !== undefined;
  const delayMs = faulty === undefined ? 0 : faulty.delivery.delayMs;
  const note: RequestNote = {
    number,
    variedId: variation?.requestId,
    at: now,
    method,
    path,
    key: entry?.key,
    stranger: isUnknownKey ? fingerprintOf(sha256) : null,
    status,
    code: faulty === undefined ? codeOf(pathId, assumedFor(world, call)) : faulty.code,
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
  const { apiKey, sha256, entry, now, started } = call;
  const { traits, leaks, isMisdirected, connection, pathId, method } = ending;
  const isLimited = pathId.startsWith("429") && entry !== undefined;
  return {
    apiKey,
    sha256,
    entry,
    traits,
    hasLeakedRealKey: leaks?.hasRealKey === true,
    isMisdirected,
    now,
    started,
    connection,
    delivery: ending.delivery ?? { at: started + delayMs },
    pathId,
    namedLimit: isLimited
      ? limitNamedBy(assumedFor(world, call), readLimits(entry, world, now), { hasBody: method !== "HEAD" })
      : undefined,
  };
}
