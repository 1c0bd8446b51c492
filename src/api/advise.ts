import type { AdviceId } from "../rules/advice.js";
import { isFault } from "../rules/fault-effects.js";
import type { KeyRecord } from "../rules/key-state.js";
import { keyStateAt, keyStateTable } from "../rules/key-state.js";
import { hasSandboxMark, isSandboxKey } from "../rules/keys/key-text.js";
import { isSuccess, outcomeRow, successOfKey } from "../rules/outcomes.js";
import type { ApiCall } from "../sandbox/call.js";
import type { ClientBehavior } from "../sandbox/journal/client-behavior.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";
import { adviceOnTraits } from "./advise-on-traits.js";

const rejectedStatuses: readonly (number | undefined)[] = [401, 403, 429];

export const noAdvice: readonly AdviceId[] = Object.freeze([]);

/**
 * Adds the advice that a request causes to its exchange, and remembers what advice on later requests depends on: the order of
 * requests, never elapsed time or connections.
 */
export function advise(sandbox: SandboxState, call: ApiCall, exchange: Exchange): void {
  const { behavior } = sandbox;
  if (isPlainSuccess(call, exchange, behavior)) return;
  const { entry } = call;
  const { outcome } = exchange;

  // What the request shows by itself.
  rememberPreflight(behavior, call, exchange);
  const advice = adviceOnTraits(call, exchange, behavior.preflightOrigins);
  if (exchange.leaksRealKey || isSentKeyMaybeReal(call)) advice.push("real-key-suspected");
  if (entry !== undefined) advice.push(...adviceOnKey(entry.key, exchange, sandbox));
  else advice.push(...adviceOnUnknownKey(call, exchange, sandbox));

  // What it shows after the requests before it.
  if (behavior.lastRejections.get(exchange.fingerprint ?? "") === outcome) {
    advice.push("sent-again-after-rejection");
    exchange.isResent = true;
  }
  if (advice.length > 0) exchange.advice = Object.freeze(advice);

  // What later requests depend on. A delayed response may not have arrived yet.
  rememberRejection(behavior, exchange);
  if (entry !== undefined && isSuccess(outcome) && exchange.delivery === undefined) {
    behavior.keysThatWorked.add(entry.key.ref);
  }
}

/**
 * Whether a request is as nearly all are: a usual success of `/me`, with a key that is in no rotation and was not rejected before.
 * It causes no advice, and has nothing to remember: there is no rejection of its key to forget, and `keysThatWorked` is read only for
 * keys that replace another one.
 */
function isPlainSuccess({ entry }: ApiCall, exchange: Exchange, { lastRejections }: ClientBehavior): boolean {
  const { traits, outcome, leaksRealKey, fingerprint } = exchange;
  if (outcome !== "200.test" && outcome !== "200.live") return false;
  if (traits.length > 0 || leaksRealKey) return false;
  if (entry === undefined || isInRotation(entry.key)) return false;
  return !lastRejections.has(fingerprint ?? "");
}

function isInRotation({ replaces, replacedBy }: KeyRecord): boolean {
  return replaces !== undefined || replacedBy !== undefined;
}

/** Whether the key in `x-api-key` may be one of the real service: well-formed, without a sandbox's mark, and unknown here. */
function isSentKeyMaybeReal({ entry, presented, request }: ApiCall): boolean {
  return entry === undefined && presented === "well_formed" && !hasSandboxMark(request.apiKey ?? "");
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
): readonly AdviceId[] {
  // This key is announced to clients as one to try a 401 with.
  if (sha256 === unknownKeyHash) return noAdvice;

  const { apiKey = "" } = request;
  const isRejectedKey = presented === "well_formed" && outcomeRow(outcome).status === 401;
  if (!isRejectedKey || !hasSandboxMark(apiKey)) return noAdvice;
  return [isSandboxKey(apiKey) ? "key-of-another-sandbox" : "key-cut"];
}

/** Remembers the origin of a page whose browser asks to send a key. */
function rememberPreflight(behavior: ClientBehavior, call: ApiCall, { traits }: Exchange): void {
  const origin = call.request.evidence?.page;
  if (origin === undefined || !traits.includes("preflight for key")) return;
  behavior.notePreflight(origin);
}

/** Remembers which rejection a client has got. After a fault, it may be right to send a request again. */
function rememberRejection(behavior: ClientBehavior, { fingerprint, outcome }: Exchange): void {
  if (fingerprint === null || isFault(outcome)) return;
  const isRejected = rejectedStatuses.includes(outcomeRow(outcome).status);
  if (isRejected) behavior.noteRejection(fingerprint, outcome);
  else behavior.forgetRejection(fingerprint);
}

/** Whether a later key of its rotation has worked, and still does: a client cannot switch to one that gets no 200 now. */
function hasReplacementThatWorked(
  replaced: KeyRecord,
  now: number,
  { registry, behavior }: SandboxState,
): boolean {
  const { keysThatWorked, rotatedKeys } = behavior;
  let key = replaced;
  while (key.replacedBy !== undefined) {
    // A client got no replacement of a key that the scenario had replaced at its start.
    const wasReplacedWhileRunning = rotatedKeys.has(key.ref);
    if (!wasReplacedWhileRunning) return false;

    ({ key } = registry.key(key.replacedBy));
    const { rejection } = keyStateTable[keyStateAt(key, now)];
    if (keysThatWorked.has(key.ref) && rejection === null) return true;
  }
  return false;
}
