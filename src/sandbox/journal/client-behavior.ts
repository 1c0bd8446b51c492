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
  const { entry, sha256 } = call;
  const { apiKey = "" } = call.request;
  const { outcome } = exchange;
  const hasPassed = isSuccess(outcome);
  const admitted = hasPassed && entry !== undefined ? successOutcome(entry) : undefined;
  const advice = adviceOnTraits(call, exchange, behavior.pages);
  const looksReal = !isMarked(apiKey) && exchange.presented === "well_formed";
  if ((looksReal && entry === undefined) || exchange.leaksRealKey) advice.push("real-key-suspected");
  if (entry !== undefined && hasReplacementThatWorked(entry, exchange.at))
    advice.push("old-key-after-replacement-seen");
  else if (admitted === "200.retiring") advice.push("retiring-key-in-use");
  if (admitted === "200.legacy") advice.push("legacy-key-in-use");
  if (entry === undefined && sha256 !== behavior.unknownKey) advice.push(...adviceOnStray(apiKey, exchange));
  // A delayed response may not have arrived yet.
  if (entry !== undefined && hasPassed && exchange.delivery === undefined) entry.hasWorked = true;
  const earlier = behavior.rejected.get(exchange.fingerprint ?? "");
  learn(behavior, exchange);
  if (earlier === outcome) {
    advice.push("sent-again-after-rejection");
    exchange.isResent = true;
  }
  if (advice.length > 0) exchange.advice = Object.freeze(advice);
}

// On a key with the mark of a sandbox that this one does not have.
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
function learn({ rejected }: ClientBehavior, { fingerprint, outcome }: Exchange): void {
  if (fingerprint === null || isFault(outcome)) return;
  rejected.delete(fingerprint);
  if (!rejectedStatuses.includes(outcomeOf(outcome).status)) return;
  if (rejected.size === rejectedCapacity) rejected.delete(rejected.keys().next().value as string);
  rejected.set(fingerprint, outcome);
}

// A client cannot switch to a key that gets no 200 now.
function hasReplacementThatWorked({ replacement }: KeyEntry, now: number): boolean {
  if (replacement === undefined) return false;
  const isUsable = keyStateTable[keyStateAt(replacement.key, now)].rejection === null;
  return (replacement.hasWorked === true && isUsable) || hasReplacementThatWorked(replacement, now);
}
