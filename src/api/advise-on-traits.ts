import type { AdviceId } from "../rules/advice.js";
import { hasKeyElsewhere } from "../rules/request.js";
import type { ApiCall } from "../sandbox/call.js";
import type { Exchange } from "../sandbox/journal/exchange.js";

/**
 * The advice on what is unusual about the request itself: where its key is, who sends it, its method and path, what else it
 * contains. `preflightOrigins` are the pages whose browser has asked to send a key.
 */
export function adviceOnTraits(
  call: ApiCall,
  exchange: Exchange,
  preflightOrigins: ReadonlySet<string>,
): AdviceId[] {
  const { traits, isMisdirected } = exchange;
  const advice: AdviceId[] = [];
  if (traits.length === 0 && !isMisdirected) return advice;

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
