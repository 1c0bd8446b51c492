import { fingerprintOf } from "../domain/api-key.js";
import type { Assumptions } from "../domain/assumptions.js";
import type { FaultPathId, PathId } from "../domain/outcomes.js";
import type { RequestTraits } from "../domain/request-traits.js";
import { isPlain, judge, learn, noAdvice, type Sending } from "../sandbox/conduct.js";
import { type Heard, type Line, tell } from "../sandbox/conduct-heard.js";
import { entryOf, type RequestNote } from "../sandbox/journal.js";
import type { KeyEntry } from "../sandbox/registry.js";
import type { World } from "../sandbox/world.js";
import type { Delivery } from "./delivery.js";
import { codeOf } from "./error-body.js";
import { readLimits } from "./limit-reading.js";
import type { ToldStrays } from "./stray-keys.js";
import { toldLimit } from "./told-limit.js";
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

/** What the journal is told of the end of a call. */
export interface CallEnding {
  readonly method: string;
  readonly path: string;
  readonly pathId: PathId;
  readonly status: number;
  readonly signs: RequestTraits;
  /** Whether the API does not have its path, or not with its method. */
  readonly misdirected: boolean;
  /** The keys that stood where none belongs. Left out when there were none. */
  readonly strays?: ToldStrays | undefined;
  /** Whether no client sent it, but a story or a tool of ours: the journal has it, and nobody is judged by it. Default: false. */
  readonly isOurs?: boolean;
  /** What it came on. Left out, its client hears the answer at once. */
  readonly line?: Line | undefined;
  /** Left out when no fault hit the call. */
  readonly faulty?:
    | { readonly fault: FaultPathId; readonly code: string | null; readonly delivery: Delivery }
    | undefined;
}

/**
 * Writes a call into the journal. The method and path must be fit to be shown (R46).
 *
 * Answers what the client learns, to be told when it has heard the answer; `undefined` when there is nothing to tell.
 */
export function recordCall(world: World, call: BegunCall, ending: CallEnding): Heard | undefined {
  const { method, path, pathId, status, faulty, strays, isOurs = false } = ending;
  const { started, now, number, apiKey, sha256, entry, variation } = call;
  const isStranger = entry === undefined && apiKey !== undefined;
  const delayMs = faulty === undefined ? 0 : faulty.delivery.delayMs;
  const sending = sendingOf(world, call, ending);
  const isJudged = !isOurs && !isPlain(sending);
  const note: RequestNote = {
    number,
    variedId: variation?.requestId,
    at: now,
    method,
    path,
    key: entry?.key,
    stranger: isStranger ? fingerprintOf(sha256) : null,
    status,
    code: faulty === undefined ? codeOf(pathId, assumedFor(world, call)) : faulty.code,
    pathId,
    fault: faulty === undefined ? null : faulty.fault,
    advice: isJudged ? judge(world.conduct, world.registry, sending) : noAdvice,
    durationMs: world.platform.stopwatch() - started + delayMs,
  };
  world.journal.record(note);
  if (!isOurs) world.counters.count(note, world.requestIds.idOf, strays?.keys);
  if (world.events.isHeard()) {
    world.events.announce({ type: "request", request: entryOf(note, world.requestIds.idOf) });
  }
  const lesson = isJudged ? learn(world.conduct, world.windows, sending) : undefined;
  if (lesson === undefined || ending.line !== undefined) return lesson;
  tell(lesson, started + delayMs);
  return undefined;
}

function sendingOf(world: World, call: BegunCall, ending: CallEnding): Sending {
  const { apiKey, sha256, entry, now, started } = call;
  const { signs, strays, misdirected, line, pathId, method } = ending;
  const isLimited = pathId.startsWith("429") && entry !== undefined;
  return {
    apiKey,
    sha256,
    entry,
    signs,
    hasRealKey: strays?.hasRealKey === true,
    misdirected,
    now,
    started,
    line,
    pathId,
    told: isLimited
      ? toldLimit(assumedFor(world, call), readLimits(entry, world, now), { hasBody: method !== "HEAD" })
      : undefined,
  };
}
