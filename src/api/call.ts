import type { AdviceId } from "../domain/advice.js";
import { fingerprintOf, isWellFormedKey, noKey, parseApiKey } from "../domain/api-key.js";
import type { Assumptions } from "../domain/assumptions.js";
import type { Presented } from "../domain/authorize.js";
import type { FaultPathId, PathId } from "../domain/outcomes.js";
import { containsKey, findKeys } from "../domain/redact.js";
import {
  hasKeyInOtherHeader,
  isMeantAsKey,
  type RequestEvidence,
  type RequestTraits,
} from "../domain/request-traits.js";
import {
  noAdvice,
  type ObservedCall,
  type ObservedRequest,
  observe,
} from "../sandbox/behaviour/client-behaviour.js";
import type { AnswerDelivery, Connection } from "../sandbox/behaviour/known-answers.js";
import type { ShownKey } from "../sandbox/counters.js";
import { entryOf, type KeptAnswer, type RequestNote } from "../sandbox/journal.js";
import type { World } from "../sandbox/world.js";
import { limitNamedBy, readLimits } from "./limits.js";
import type { RequestContent } from "./messages.js";
import { asChosen, isVaried } from "./variation/chosen.js";
import { type Variation, variationOf } from "./variation/vary.js";

/** A call that has begun. */
export interface Call extends ObservedCall {
  readonly number: number;
  /** The assumptions for its answer. */
  readonly assumptions: Assumptions;
  /** The variation of its answer; `undefined` except in the profile `varied`. */
  readonly variation: Variation | undefined;
}

/** Begins a call: looks its key up and gives it its number. */
export function beginCall(world: World, apiKey: string | undefined): Call {
  const started = world.platform.stopwatch();
  const now = world.clock.now();
  // The timeline is as far as this instant, also where the clock went on since it was looked at.
  if (world.timeline.dueAt <= now) world.settle();
  // Hashed and looked up in every case, so that the time taken does not tell the rejections apart (R14).
  const sha256 = world.platform.sha256(apiKey ?? noKey);
  const madeBefore = world.registry.made();
  const entry = world.registry.find(sha256);
  const isNewEntry = world.registry.made() > madeBefore;
  const number = world.requestIds.next();
  const variation = isVaried(world) ? variationOf(world, number) : undefined;
  const assumptions = variation === undefined ? world.assumptions : variation.assumptions;
  const presented = presentedAs(apiKey);
  return { started, now, number, apiKey, presented, sha256, entry, isNewEntry, assumptions, variation };
}

/** The kind of key that was presented (R9, R10). An empty header is present, but malformed. */
export function presentedAs(apiKey: string | undefined): Presented {
  // Looked at in every case: a missing key takes as long as any other (R14).
  const isWellFormed = isWellFormedKey(apiKey ?? noKey);
  if (apiKey === undefined) return "missing";
  return isWellFormed ? "well_formed" : "malformed";
}

/** The id of a call, whether or not its answer carries it. */
export function requestIdOf(world: World, { number, variation }: Call): string {
  return variation === undefined ? world.requestIds.idOf(number) : variation.requestId;
}

/** The end of a call, for journal, counters and advice. */
interface CallEnding {
  readonly method: string;
  readonly path: string;
  readonly pathId: PathId;
  readonly status: number;
  /** The error code of the answer; `null` when it has none. */
  readonly code: string | null;
  readonly traits: RequestTraits;
  /** Whether the API does not have its path, or not with its method. */
  readonly isMisdirected: boolean;
  readonly evidence: RequestEvidence | undefined;
  /** Its path as it was sent, when the API does not have it. */
  readonly unknownPath?: string | undefined;
  /** Default: looked for in the unknown path. */
  readonly keysInPath?: readonly string[] | undefined;
  /** Whether it went to an endpoint of the preview. Default: false. */
  readonly isPreview?: boolean;
  /**
   * Whether no client is judged by it, though it is in the journal: a story, a tool of ours or a probe of any server sent
   * it. Default: false.
   */
  readonly isUnjudged?: boolean;
  /** Whether a story or the control plane sent it. Default: false. */
  readonly isTold?: boolean;
  /** The answer, unless it is made elsewhere. */
  readonly answer?: KeptAnswer | undefined;
  /** Default: its body is sent whole. */
  readonly cutAfter?: number | undefined;
  /** Default: unknown. */
  readonly connection?: Connection | undefined;
  /** Default: delivered at once, or after the latency of a fault. */
  readonly delivery?: AnswerDelivery | undefined;
  /** What the endpoint was sent, where it takes any of it. */
  readonly content?: RequestContent | undefined;
  /** Whether a handler of the user's answers it, which no story has. Default: false. */
  readonly isGuarded?: boolean;
  /** The fault that hit it, with what it waits for that; default: none. */
  readonly fault?: FaultPathId | null;
  readonly delayMs?: number;
}

/** Writes a call into the journal. The method and path must be fit to be shown (R46). */
export function recordCall(world: World, begun: Call, ending: CallEnding): void {
  const call = asChosen(world, begun, ending.status);
  const { method, path, pathId, status, code, fault = null, delayMs = 0, isUnjudged = false } = ending;
  const { started, now, number, apiKey, presented, sha256, entry, variation } = call;
  const fingerprint = fingerprintOf(sha256);
  const misplaced = describeMisplaced(world, call, ending);
  const isRepeatable = ending.isGuarded !== true && canBeKept(ending.content);
  const note: RequestNote = {
    number,
    variedId: variation?.requestId,
    at: now,
    method,
    path,
    key: entry?.key,
    unknownKey: entry === undefined && apiKey !== undefined ? fingerprint : null,
    status,
    code,
    pathId,
    fault,
    isPreview: ending.isPreview ?? false,
    isTold: ending.isTold ?? false,
    answer: ending.answer,
    cutAfter: ending.cutAfter,
    presented,
    content: isRepeatable ? ending.content : undefined,
    isUnrepeatable: !isRepeatable,
    advice: isUnjudged ? noAdvice : observe(world, observed(world, call, ending, misplaced)),
    durationMs: world.platform.stopwatch() - started + delayMs,
  };
  world.journal.record(note);
  world.recording.request(note);
  if (!isUnjudged) world.counters.count(note, world.requestIds.idOf, misplaced?.keys);
  if (world.events.isHeard()) {
    const { idOf } = world.requestIds;
    world.events.announce({ type: "request", request: () => entryOf(note, idOf) });
  }
}

// Nothing is kept of a body with a key in it (R46), or that could not be read.
function canBeKept(content: RequestContent | undefined): boolean {
  if (content === undefined) return true;
  const { query, contentType = "", idempotencyKey = "", body } = content;
  return body.problem === undefined && ![query, contentType, idempotencyKey, body.text].some(containsKey);
}

function observed(
  world: World,
  call: Call,
  ending: CallEnding,
  misplaced: MisplacedKeys | undefined,
): ObservedRequest {
  const { entry, now, started } = call;
  const { evidence, isMisdirected, connection, pathId, method, delayMs = 0 } = ending;
  const isLimited = pathId.startsWith("429") && entry !== undefined;
  return {
    call,
    started,
    traits: misplaced?.isNotAlone === true ? ending.traits | hasKeyInOtherHeader : ending.traits,
    page: evidence?.page,
    hasLeakedRealKey: misplaced?.hasRealKey === true,
    isMisdirected,
    connection,
    delivery: ending.delivery ?? { at: started + delayMs },
    pathId,
    namedLimit: isLimited
      ? limitNamedBy(call.assumptions, readLimits(entry, world, now), { hasBody: method !== "HEAD" })
      : undefined,
  };
}

/** A description of the keys in places where no key belongs that holds none of them (R46). */
interface MisplacedKeys {
  /** Whether one of them may be a real key: well-formed, not made by a sandbox, and unknown here. */
  readonly hasRealKey: boolean;
  /** Whether `x-api-key` has something else with it, or the variable for it. */
  readonly isNotAlone: boolean;
  /** The key that an advice is about, where it is not the one in `x-api-key`. */
  readonly keys: Readonly<Partial<Record<AdviceId, ShownKey>>>;
}

// `undefined` when there are none.
function describeMisplaced(
  world: World,
  { apiKey = noKey, presented, entry }: Call,
  { pathId, evidence, unknownPath, keysInPath }: CallEnding,
): MisplacedKeys | undefined {
  const isRejected = entry === undefined || pathId.startsWith("401");
  if (!isRejected && evidence === undefined && unknownPath === undefined) return undefined;
  // Searched in every case, so that each 401 takes as long (R14); a well-formed key is judged as that of the request.
  const inText = findKeys(apiKey);
  const isMeant = isMeantAsKey(apiKey, inText);
  const isMalformed = presented === "malformed";
  const isNotAlone = isMalformed && isMeant;
  const inHeader = isMalformed ? inText : [];
  const inPath = unknownPath === undefined ? [] : (keysInPath ?? findKeys(unknownPath));
  const { inQuery = [], inHeaders = [] } = evidence ?? {};
  const all = [...inQuery, ...inHeaders, ...inHeader, ...inPath];
  if (all.length === 0 && !isNotAlone) return undefined;
  const real = all.find((key) => parseApiKey(key)?.marked === false && shownKey(world, key).key === null);
  const notAlone = inHeaders[0] ?? (isNotAlone ? inHeader[0] : undefined);
  return {
    hasRealKey: real !== undefined,
    isNotAlone,
    keys: {
      ...(inQuery[0] !== undefined && { "key-in-query": shownKey(world, inQuery[0]) }),
      ...(notAlone !== undefined && { "key-in-authorization": shownKey(world, notAlone) }),
      ...(real !== undefined && { "real-key-suspected": shownKey(world, real) }),
    },
  };
}

function shownKey({ platform, registry }: World, key: string): ShownKey {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}
