import type { AdviceId } from "../rules/advice.js";
import { isFault } from "../rules/fault-effects.js";
import { type KeyRecord, keyStateAt, keyStateTable } from "../rules/key-state.js";
import { findKeys, isMeantAsKey } from "../rules/keys/find-keys.js";
import { fingerprintOf, hasSandboxMark, isSandboxKey, isWellFormedKey } from "../rules/keys/key-text.js";
import { isSuccess, outcomeRow, successOfKey } from "../rules/outcomes.js";
import { hasKeyElsewhere, mergeTraits } from "../rules/request.js";
import type { ApiCall } from "../sandbox/call.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";

// The advice on a request, in two steps. `findUnusual` reads the request itself, of which the journal keeps no key: what is unusual
// about it, and the keys that are not alone in `x-api-key`. Then, for its exchange, `advise` decides which advice this causes, also
// by the requests before it.

const rejectedStatuses: readonly (number | undefined)[] = [401, 403, 429];

/**
 * Adds the advice that a request causes to its exchange, and remembers what advice on later requests depends on: the order of
 * requests, never elapsed time or connections.
 */
export function advise(sandbox: SandboxState, call: ApiCall, exchange: Exchange): void {
  const { history } = sandbox;
  const { entry, presented, request } = call;
  const { outcome, fingerprint, traits } = exchange;

  // The page whose browser asks to send a key.
  const page = request.evidence?.page;
  if (page !== undefined && traits.includes("preflight for key")) history.notePreflight(page);

  // What the request shows by itself.
  const advice = adviceOnTraits(call, exchange, history.preflightOrigins);
  const isKeyMaybeReal = presented === "well_formed" && !hasSandboxMark(request.apiKey ?? "");
  if (exchange.leaksRealKey || (entry === undefined && isKeyMaybeReal)) advice.push("real-key-suspected");
  if (entry !== undefined) advice.push(...adviceOnKey(entry.key, exchange, sandbox));
  else advice.push(...adviceOnUnknownKey(call, exchange, sandbox));

  // What it shows after the requests before it.
  if (history.lastRejections.get(fingerprint ?? "") === outcome) {
    advice.push("sent-again-after-rejection");
    exchange.isResent = true;
  }
  exchange.advice = advice;

  // What later requests depend on. After a fault, it may be right to send a request again.
  if (fingerprint !== null && !isFault(outcome)) {
    const isRejected = rejectedStatuses.includes(outcomeRow(outcome).status);
    if (isRejected) history.noteRejection(fingerprint, outcome);
    // A 404 or 405 shows nothing about the key.
    if (isSuccess(outcome)) history.lastRejections.delete(fingerprint);
  }
  // A delayed response may not have arrived yet.
  const hasWorked = isSuccess(outcome) && exchange.delivery === undefined;
  if (hasWorked && entry?.key.replaces !== undefined) history.replacementsThatWorked.add(entry.key.ref);
}

/**
 * The advice on what is unusual about the request itself: where its key is, who sends it, its method and path, what else it
 * contains. `preflightOrigins` are the pages whose browser has asked to send a key.
 */
function adviceOnTraits(
  call: ApiCall,
  exchange: Exchange,
  preflightOrigins: ReadonlySet<string>,
): AdviceId[] {
  const { traits, isMisdirected } = exchange;
  const advice: AdviceId[] = [];
  if (traits.includes("key in query")) advice.push("key-in-query");
  if (traits.includes("key in url")) advice.push("key-in-url");
  if (traits.includes("key in other header")) advice.push("key-in-authorization");

  const hasKey = hasKeyAnywhere(call, exchange);
  const isBrowser = traits.includes("browser header");
  if (isPageWithKey(call, exchange, preflightOrigins)) advice.push("key-from-browser");
  else if (isBrowser && hasKey) advice.push("key-with-browser-headers");

  if (isMisdirected) {
    // Browsers send preflights on their own, and a person who opens the server in a browser is not a client.
    const isByPerson = isBrowser && !hasKey;
    if (!isByPerson && !traits.includes("preflight")) advice.push("wrong-method-or-path");
    return advice;
  }

  // A query with a key already has its own advice.
  const isQueryWithoutKey = traits.includes("query") && !traits.includes("key in query");
  if (isQueryWithoutKey || traits.includes("body")) advice.push("query-or-body-sent");
  return advice;
}

/** Whether a request has a key, in whatever place. */
function hasKeyAnywhere({ request }: ApiCall, { traits }: Exchange): boolean {
  return request.apiKey !== undefined || hasKeyElsewhere(traits);
}

/** Whether a page in a browser sends a key, or asks to send one. A proxy also forwards browser headers, but sends no preflight. */
function isPageWithKey(call: ApiCall, exchange: Exchange, preflightOrigins: ReadonlySet<string>): boolean {
  const { traits } = exchange;
  if (traits.includes("preflight for key")) return true;
  if (!hasKeyAnywhere(call, exchange)) return false;
  if (traits.includes("from page")) return true;
  const origin = call.request.evidence?.page;
  return origin !== undefined && preflightOrigins.has(origin);
}

/** The advice on a key that will stop working, or should no longer be used. */
function adviceOnKey(key: KeyRecord, exchange: Exchange, sandbox: SandboxState): AdviceId[] {
  const advice: AdviceId[] = [];
  const success = isSuccess(exchange.outcome) ? successOfKey(key) : undefined;
  const isOutdated = hasReplacementThatWorked(key, exchange.at, sandbox);
  if (isOutdated) advice.push("old-key-after-replacement-seen");
  if (!isOutdated && success === "200.retiring") advice.push("retiring-key-in-use");
  if (success === "200.legacy") advice.push("legacy-key-in-use");
  return advice;
}

/** The advice on a rejected key that has the mark of a sandbox, but is none of this one. */
function adviceOnUnknownKey(
  { request, presented, sha256 }: ApiCall,
  { outcome }: Exchange,
  { unknownKeyHash }: SandboxState,
): AdviceId[] {
  // This key is announced to clients as one to try a 401 with.
  if (sha256 === unknownKeyHash) return [];

  const { apiKey = "" } = request;
  const isRejectedKey = presented === "well_formed" && outcomeRow(outcome).status === 401;
  if (!isRejectedKey || !hasSandboxMark(apiKey)) return [];
  return [isSandboxKey(apiKey) ? "key-of-another-sandbox" : "key-cut"];
}

/** Whether a later key of its rotation has worked, and still does: a client cannot switch to one that gets no 200 now. */
function hasReplacementThatWorked(
  replaced: KeyRecord,
  now: number,
  { registry, history }: SandboxState,
): boolean {
  const { replacementsThatWorked, rotatedKeys } = history;
  let key = replaced;
  while (key.replacedBy !== undefined) {
    // A client got no replacement of a key that the scenario had replaced at its start.
    const wasReplacedWhileRunning = rotatedKeys.has(key.ref);
    if (!wasReplacedWhileRunning) return false;

    ({ key } = registry.key(key.replacedBy));
    const { rejection } = keyStateTable[keyStateAt(key, now)];
    if (replacementsThatWorked.has(key.ref) && rejection === null) return true;
  }
  return false;
}

/** What is unusual about a request, now that its endpoint and its key are known. Contains no key (R46). */
export function findUnusual(
  sandbox: SandboxState,
  call: ApiCall,
): Pick<Exchange, "traits" | "leaksRealKey" | "keysOfAdvice"> {
  const isMalformed = call.presented === "malformed";
  const { apiKey = "", traits: foundTraits } = call.request;

  // The keys within a text in `x-api-key` that is no key itself. It was meant as a key if it has text around one, or a variable's name
  // in place of one.
  const keysInText = isMalformed ? findKeys(apiKey) : [];
  const isAlmostKey = isMalformed && isMeantAsKey(apiKey, keysInText);

  let traits = foundTraits;
  // Only `/me` is specified to read neither a query nor a body (R8).
  const { endpoint } = call;
  if (endpoint !== undefined && !endpoint.isMe) {
    traits = traits.filter((trait) => trait !== "query" && trait !== "body");
  }
  // An almost-key in `x-api-key` and a key in another header have the same advice: send the key alone, in `x-api-key`.
  if (isAlmostKey) traits = mergeTraits(traits, ["key in other header"]);

  const keysElsewhere = findKeysElsewhere(call, keysInText, isAlmostKey);
  if (keysElsewhere.length === 0 && !isAlmostKey) {
    return { traits, leaksRealKey: false, keysOfAdvice: undefined };
  }

  // The advice on a place names the first key in that place.
  const keysOfAdvice: Partial<Record<AdviceId, Pick<Exchange, "key" | "fingerprint">>> = {};
  let realKey: Pick<Exchange, "key" | "fingerprint"> | undefined;
  for (const { key, advice } of keysElsewhere) {
    const sha256 = sandbox.platform.sha256(key);
    const ref = sandbox.registry.find(sha256)?.key.ref ?? null;
    const mentioned = { key: ref, fingerprint: fingerprintOf(sha256) };
    if (advice !== null) keysOfAdvice[advice] ??= mentioned;
    // It may be one of the real service: well-formed, not created by a sandbox, and unknown here.
    if (ref === null && isWellFormedKey(key) && !hasSandboxMark(key)) realKey ??= mentioned;
  }
  // `real-key-suspected` names the first key that may be real, in whatever place.
  if (realKey !== undefined) keysOfAdvice["real-key-suspected"] = realKey;
  return { traits, leaksRealKey: realKey !== undefined, keysOfAdvice };
}

/** The keys of a call that are not alone in `x-api-key`, by their places, those in the query first. Each with the advice on its place. */
function findKeysElsewhere(
  { request }: ApiCall,
  keysInText: readonly string[],
  isAlmostKey: boolean,
): { readonly key: string; readonly advice: AdviceId | null }[] {
  const { inQuery = [], inOtherHeaders = [], inUrl = [] } = request.evidence ?? {};
  const found: { readonly key: string; readonly advice: AdviceId | null }[] = [];
  for (const key of inQuery) found.push({ key, advice: "key-in-query" });
  for (const key of inOtherHeaders) found.push({ key, advice: "key-in-authorization" });
  // A text that was not meant as a key has no advice, but may still contain a real key.
  const adviceOnText = isAlmostKey ? "key-in-authorization" : null;
  for (const key of keysInText) found.push({ key, advice: adviceOnText });
  for (const key of inUrl) found.push({ key, advice: "key-in-url" });
  return found;
}
