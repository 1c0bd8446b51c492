import type { AdviceId } from "../domain/advice.js";
import { isMarked, isSandboxKey, type KeyRecord, keyStateAt, noKey } from "../domain/api-key.js";
import { minute, minuteStart } from "../domain/limits.js";
import { isFault } from "../domain/outcomes.js";
import {
  hasBody,
  hasKeyInOtherHeader,
  hasKeyInQuery,
  hasQuery,
  isFromBrowser,
  isFromPage,
  isPreflight,
  isPreflightForKey,
  shows,
} from "../domain/request-traits.js";
import type { ApiRequest, Exchange } from "../history/exchange.js";
import type { Usage, Windows } from "./counters.js";
import {
  isKnown,
  type KnownAnswer,
  learn,
  type Repeat,
  repeatOf,
  type SentRequest,
} from "./known-answers.js";
import type { KeyEntry, Registry, UsedKey } from "./registry.js";

/** What a sandbox stores about its clients. */
export interface ClientBehaviour {
  /** The latest keys that got 401, by their SHA-256, oldest first. */
  readonly rejected: Map<string, KnownAnswer>;
  /** The origins of pages whose browsers sent a preflight request for a key; the first hundred. */
  readonly pages: Set<string>;
  /** The SHA-256 of the sandbox's own example of an unknown key. */
  readonly unknownKey: string;
}

const rejectedCapacity = 1000;
const pagesCapacity = 100;
/** Milliseconds without a request that are a pause. */
const pauseTime = 1000;
/** Repeats of a failed request that a client may send without a pause. */
const mostRepeats = 5;
/** Milliseconds after which retries without a pause are no longer one burst. */
const longBurst = 3000;

/** The part of a request in progress that advice depends on. */
export interface ObservedCall extends SentRequest {
  readonly request: ApiRequest;
  readonly sha256: string;
  readonly entry: KeyEntry | undefined;
}

interface ObservingWorld {
  readonly behaviour: ClientBehaviour;
  readonly registry: Registry;
  readonly windows: Windows;
  readonly platform: { readonly time: () => number };
}

/** The advice of nearly every request. */
export const noAdvice: readonly AdviceId[] = Object.freeze([]);

/** The advice that a request causes, and the rejected request that it repeats. */
export interface Observed {
  readonly advice: readonly AdviceId[];
  readonly repeat?: Exchange["repeat"];
}

/** Returns what a request shows about its client, and stores what its response shows the client. */
export function observe(world: ObservingWorld, call: ObservedCall, exchange: Exchange): Observed {
  const { entry, sha256 } = call;
  const { apiKey = noKey } = call.request;
  const advice = adviceOnTraits(call, exchange, world.behaviour.pages);
  const looksReal = !isMarked(apiKey) && exchange.presented === "well_formed";
  if ((looksReal && entry === undefined) || exchange.leaksRealKey) advice.push("real-key-suspected");
  const refusal = refusalBefore(world, call, exchange);
  if (refusal?.repeat === "retry") advice.push(refusal.id);
  if (entry !== undefined) advice.push(...observeKey(world, entry, call, exchange));
  const isStray = isSandboxKey(apiKey) && sha256 !== world.behaviour.unknownKey;
  if (isStray && exchange.pathId.startsWith("401") && entry === undefined)
    advice.push("key-of-another-sandbox");
  const isRepeat = refusal !== undefined && refusal.repeat !== "early";
  if (isRepeat && refusal.repeat === "unclear") advice.push("sent-again-after-refusal");
  return {
    advice: advice.length === 0 ? noAdvice : Object.freeze(advice),
    ...(isRepeat && {
      repeat: { withinMs: Math.max(0, Math.round(call.started - refusal.answer.first.at)) },
    }),
  };
}

/** An earlier response that rejected a key, what the repeated request shows, and the advice for a retry. */
interface Refusal {
  readonly answer: KnownAnswer;
  readonly repeat: Repeat;
  readonly id: AdviceId;
}

function refusalBefore(world: ObservingWorld, call: ObservedCall, exchange: Exchange): Refusal | undefined {
  const rejected = rejectionBefore(world, call, exchange);
  if (rejected !== undefined || call.entry === undefined) return rejected;
  return limitBefore(world, call.entry, call, exchange) ?? denialBefore(call.entry, call, exchange);
}

function adviceOnTraits(call: ObservedCall, exchange: Exchange, pages: Set<string>): AdviceId[] {
  const { traits, isMisdirected } = exchange;
  const advice: AdviceId[] = [];
  if (traits === 0 && !isMisdirected) return advice;
  if (shows(traits, hasKeyInQuery)) advice.push("key-in-query");
  if (shows(traits, hasKeyInOtherHeader)) advice.push("key-in-authorization");
  const hasKey = hasKeyAnywhere(call, exchange);
  const isBrowser = shows(traits, isFromBrowser);
  if (isPageWithKey(call, exchange, pages)) advice.push("key-from-browser");
  else if (isBrowser && hasKey) advice.push("key-with-browser-headers");
  if (isMisdirected) {
    // Browsers send preflights on their own. A person who opens the server in a browser is not a client.
    if (!shows(traits, isPreflight) && (hasKey || !isBrowser)) advice.push("wrong-method-or-path");
  } else if (shows(traits, hasBody) || (shows(traits, hasQuery) && !shows(traits, hasKeyInQuery))) {
    advice.push("query-or-body-sent");
  }
  return advice;
}

function hasKeyAnywhere({ request }: ObservedCall, { traits }: Exchange): boolean {
  return request.apiKey !== undefined || shows(traits, hasKeyInQuery | hasKeyInOtherHeader);
}

// A proxy forwards browser headers and adds the key itself, but sends no preflight for it.
function isPageWithKey(call: ObservedCall, exchange: Exchange, pages: Set<string>): boolean {
  const { traits } = exchange;
  const page = call.request.evidence?.page;
  if (shows(traits, isPreflightForKey)) {
    if (page !== undefined && pages.size < pagesCapacity) pages.add(page);
    return true;
  }
  return (
    hasKeyAnywhere(call, exchange) && (shows(traits, isFromPage) || (page !== undefined && pages.has(page)))
  );
}

// The same work for every 401, no matter its cause or whether a key was sent (R14).
function rejectionBefore(
  { behaviour: { rejected } }: ObservingWorld,
  call: ObservedCall,
  { pathId }: Exchange,
): Refusal | undefined {
  const { request, sha256 } = call;
  const answer = rejected.get(sha256);
  const repeat = answer === undefined ? "early" : repeatOf(answer, call).repeat;
  // If a fault replaced the response, repeating the request is right.
  if (pathId.startsWith("401")) {
    if (answer !== undefined) rejected.delete(sha256);
    else if (rejected.size >= rejectedCapacity) rejected.delete(rejected.keys().next().value as string);
    rejected.set(sha256, learn(answer, call));
  }
  return answer && request.apiKey !== undefined ? { answer, repeat, id: "same-key-after-401" } : undefined;
}

// A 403 applies until an administrator acts (R18–R21). The next other response shows that.
function denialBefore(entry: UsedKey, call: ObservedCall, { pathId }: Exchange): Refusal | undefined {
  const denial = entry.behaviour?.denial;
  if (isFault(pathId)) return undefined;
  if (pathId !== denial?.pathId) {
    const next = pathId.startsWith("403") ? { pathId, answer: learn(undefined, call) } : undefined;
    if (next !== denial) entry.behaviour = { ...entry.behaviour, denial: next };
    return undefined;
  }
  const { repeat } = repeatOf(denial.answer, call);
  return { answer: learn(denial.answer, call), repeat, id: "same-key-after-403" };
}

function observeKey(
  world: ObservingWorld,
  entry: UsedKey,
  call: ObservedCall,
  exchange: Exchange,
): AdviceId[] {
  const { pathId } = exchange;
  const advice: AdviceId[] = [];
  if (isHammering(entry, call, exchange)) advice.push("no-pause-after-failure");
  if (hasSeenReplacement(world.registry, entry, call, exchange))
    advice.push("old-key-after-replacement-seen");
  else if (pathId === "200.retiring") advice.push("retiring-key-in-use");
  if (pathId === "200.legacy") advice.push("legacy-key-in-use");
  return advice;
}

function limitBefore(
  { windows, platform }: ObservingWorld,
  entry: UsedKey,
  call: ObservedCall,
  exchange: Exchange,
): Refusal | undefined {
  const { pathId, at: now } = exchange;
  const limit = entry.behaviour?.limit;
  // A request that gets 200 has waited long enough.
  const mustWait =
    limit !== undefined && now >= limit.since && now < limit.until && !pathId.startsWith("200");
  // If no limit was named, a client may have waited for the next minute on its own clock.
  const hasWaited = mustWait && platform.time() >= limit.untilOnWall;
  const repeat = limit === undefined ? "early" : repeatOf(limit.answer, call).repeat;
  if (pathId.startsWith("429")) {
    const until = waitUntil(entry.usage, windows, exchange);
    const earlier = limit?.until === until ? limit.answer : undefined;
    const untilOnWall =
      exchange.namedLimit === undefined ? minuteStart(platform.time()) + minute : Number.POSITIVE_INFINITY;
    entry.behaviour = {
      ...entry.behaviour,
      limit: { answer: learn(earlier, call), since: now, until, untilOnWall },
    };
  }
  return mustWait && !hasWaited ? { answer: limit.answer, repeat, id: "too-soon-after-429" } : undefined;
}

// A response that names no limit may concern the minute: a client can only wait until that ends. Compares the instant,
// not the seconds in the response, because simultaneous requests share it.
function waitUntil(usage: Usage, { sliding }: Windows, { at: now, namedLimit }: Exchange): number {
  if (namedLimit === "day") return usage.dayEndsAt;
  if (!sliding) return usage.minuteEndsAt;
  // A sliding minute has more as soon as its oldest request is a minute old.
  const moreAt = (usage.recent[0] ?? now) + minute;
  return namedLimit === "minute" ? moreAt : Math.min(moreAt, minuteStart(now) + minute);
}

// Sequential requests, or retries for longer than a burst lasts.
function isHammering(entry: UsedKey, call: ObservedCall, exchange: Exchange): boolean {
  const { pathId } = exchange;
  const { started } = call;
  const failure = entry.behaviour?.failure;
  if (pathId !== "fault.status") {
    if (failure !== undefined) entry.behaviour = { ...entry.behaviour, failure: undefined };
    return false;
  }
  if (failure === undefined || started - failure.answer.latest.at >= pauseTime) {
    const answer = learn(undefined, call);
    entry.behaviour = { ...entry.behaviour, failure: { answer, since: started, repeats: 0 } };
    return false;
  }
  if (isKnown(failure.answer, call)) failure.repeats += 1;
  const isSteady = !failure.answer.isParallel || started - failure.since >= longBurst;
  return isSteady && failure.repeats > mostRepeats;
}

function hasSeenReplacement(
  { keys }: Registry,
  entry: UsedKey,
  call: ObservedCall,
  exchange: Exchange,
): boolean {
  if (entry.key.replaces !== undefined) observeReplacement(keys, entry, call, exchange);
  let isSeen = false;
  for (const { key, behaviour } of entry.behaviour?.replacements ?? []) {
    const isKnownToWork = behaviour?.worked !== undefined && isKnown(behaviour.worked, call);
    // A client cannot switch to a key that no longer works.
    if (isKnownToWork && works(key, exchange.at)) isSeen = true;
  }
  return isSeen;
}

function observeReplacement(
  keys: Registry["keys"],
  entry: UsedKey,
  call: ObservedCall,
  exchange: Exchange,
): void {
  const worked = entry.behaviour?.worked;
  if (worked !== undefined) isKnown(worked, call);
  if (!exchange.pathId.startsWith("200")) return;
  entry.behaviour = { ...entry.behaviour, worked: learn(worked, call) };
  if (worked !== undefined) return;
  // Stored with the replaced keys now, so that rejecting a replaced key takes no longer than rejecting another.
  for (let old = keys.get(entry.key.replaces ?? ""); old; old = keys.get(old.key.replaces ?? "")) {
    old.behaviour = { ...old.behaviour, replacements: [...(old.behaviour?.replacements ?? []), entry] };
  }
}

function works(key: KeyRecord, now: number): boolean {
  const state = keyStateAt(key, now);
  return state === "active" || state === "retiring";
}
