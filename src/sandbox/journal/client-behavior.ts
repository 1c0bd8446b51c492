import type { AdviceId } from "../../rules/advice.js";
import { isMarked, isSandboxKey, keyStateAt, keyStateTable } from "../../rules/api-key.js";
import { successOutcome } from "../../rules/authorize.js";
import { isFault, isSuccess, type OutcomeId, outcomeOf } from "../../rules/outcomes.js";
import { hasKeyElsewhere } from "../../rules/request.js";
import type { ApiCall } from "../api-call.js";
import type { KeyEntry } from "../registry.js";
import type { Exchange } from "./exchange.js";

export interface ClientBehavior {
  /** The outcome of each key's last rejection, by the key's fingerprint; the latest thousand keys, oldest first. */
  readonly rejected: Map<string, OutcomeId>;
  /** The origins of pages whose browsers sent a preflight request for a key; the first hundred. */
  readonly pages: Set<string>;
  readonly unknownKey: string;
}

const rejectedCapacity = 1000;
const pagesCapacity = 100;

export const noAdvice: readonly AdviceId[] = Object.freeze([]);

/** Adds what the request shows about its client. Depends only on the order of requests, never on elapsed time or connections. */
export function advise(
  { behavior }: { readonly behavior: ClientBehavior },
  call: ApiCall,
  exchange: Exchange,
): void {
  const { entry } = call;
  const { apiKey = "" } = call.request;
  const { outcome } = exchange;
  const advice = adviceOnTraits(call, exchange, behavior.pages);
  const isStray = entry === undefined && exchange.presented === "well_formed";
  const isMaybeReal = isStray && !isMarked(apiKey);
  if (isMaybeReal || exchange.leaksRealKey) advice.push("real-key-suspected");
  if (entry !== undefined) advice.push(...adviceOnKey(entry, exchange));
  else if (call.sha256 !== behavior.unknownKey) advice.push(...adviceOnStray(apiKey, exchange));

  // A delayed response may not have arrived yet.
  if (entry !== undefined && isSuccess(outcome) && exchange.delivery === undefined) entry.hasWorked = true;

  const lastRejection = behavior.rejected.get(exchange.fingerprint ?? "");
  rememberRejection(behavior, exchange);
  if (lastRejection === outcome) {
    advice.push("sent-again-after-rejection");
    exchange.isResent = true;
  }
  if (advice.length > 0) exchange.advice = Object.freeze(advice);
}

function adviceOnKey(entry: KeyEntry, exchange: Exchange): AdviceId[] {
  const advice: AdviceId[] = [];
  const admitted = isSuccess(exchange.outcome) ? successOutcome(entry) : undefined;
  if (hasReplacementThatWorked(entry, exchange.at)) advice.push("old-key-after-replacement-seen");
  else if (admitted === "200.retiring") advice.push("retiring-key-in-use");
  if (admitted === "200.legacy") advice.push("legacy-key-in-use");
  return advice;
}

/** On a key with the mark of a sandbox that this one does not have. */
function adviceOnStray(apiKey: string, { presented, outcome }: Exchange): readonly AdviceId[] {
  if (presented !== "well_formed" || !isMarked(apiKey) || !outcome.startsWith("401")) return noAdvice;
  return [isSandboxKey(apiKey) ? "key-of-another-sandbox" : "key-cut"];
}

function adviceOnTraits(call: ApiCall, exchange: Exchange, pages: Set<string>): AdviceId[] {
  const { traits, isMisdirected } = exchange;
  const advice: AdviceId[] = [];
  if (traits.length === 0 && !isMisdirected) return advice;
  if (traits.includes("key in query")) advice.push("key-in-query");
  if (traits.includes("key in url")) advice.push("key-in-url");
  if (traits.includes("key in other header")) advice.push("key-in-authorization");
  const hasKey = hasKeyAnywhere(call, exchange);
  const isBrowser = traits.includes("browser header");
  if (isPageWithKey(call, exchange, pages)) advice.push("key-from-browser");
  else if (isBrowser && hasKey) advice.push("key-with-browser-headers");
  if (isMisdirected) {
    // Browsers send preflights on their own. A person who opens the server in a browser is not a client.
    if (!traits.includes("preflight") && (hasKey || !isBrowser)) advice.push("wrong-method-or-path");
  } else if (traits.includes("body") || (traits.includes("query") && !traits.includes("key in query"))) {
    advice.push("query-or-body-sent");
  }
  return advice;
}

function hasKeyAnywhere({ request }: ApiCall, { traits }: Exchange): boolean {
  return request.apiKey !== undefined || hasKeyElsewhere(traits);
}

// A proxy forwards browser headers and adds the key itself, but sends no preflight for it.
function isPageWithKey(call: ApiCall, exchange: Exchange, pages: Set<string>): boolean {
  const { traits } = exchange;
  const page = call.request.evidence?.page;
  if (traits.includes("preflight for key")) {
    if (page !== undefined && pages.size < pagesCapacity) pages.add(page);
    return true;
  }
  return (
    hasKeyAnywhere(call, exchange) &&
    (traits.includes("from page") || (page !== undefined && pages.has(page)))
  );
}

const rejectedStatuses: readonly (number | undefined)[] = [401, 403, 429];

/** Stores which rejection a client has got. After a response of another kind, such as a fault, repeating a request may be right. */
function rememberRejection({ rejected }: ClientBehavior, { fingerprint, outcome }: Exchange): void {
  if (fingerprint === null || isFault(outcome)) return;
  rejected.delete(fingerprint);
  if (!rejectedStatuses.includes(outcomeOf(outcome).status)) return;
  if (rejected.size === rejectedCapacity) rejected.delete(rejected.keys().next().value as string);
  rejected.set(fingerprint, outcome);
}

/** Whether a later key of its rotation has worked, and still does: a client cannot switch to one that gets no 200 now. */
function hasReplacementThatWorked(entry: KeyEntry, now: number): boolean {
  let { replacement } = entry;
  while (replacement !== undefined) {
    const { rejection } = keyStateTable[keyStateAt(replacement.key, now)];
    if (replacement.hasWorked === true && rejection === null) return true;
    replacement = replacement.replacement;
  }
  return false;
}
