import type { AdviceId } from "../domain/advice.js";
import {
  hasBody,
  hasKeyInAuthorization,
  hasKeyInQuery,
  hasQuery,
  isFromBrowser,
  isPreflight,
  isPreflightForKey,
  shows,
} from "../domain/request-traits.js";
import type { Sending } from "./conduct.js";

/** What a request earns for itself, whatever became of it and of those before it; a new list. */
export function adviceOnSigns({ signs, apiKey, misdirected }: Sending): AdviceId[] {
  const advice: AdviceId[] = [];
  if (signs === 0 && !misdirected) return advice;
  if (shows(signs, hasKeyInQuery)) advice.push("key-in-query");
  if (shows(signs, hasKeyInAuthorization)) advice.push("key-in-authorization");
  const hasKey = apiKey !== undefined || shows(signs, hasKeyInQuery | hasKeyInAuthorization);
  const isBrowser = shows(signs, isFromBrowser);
  if ((isBrowser && hasKey) || shows(signs, isPreflightForKey)) advice.push("key-from-browser");
  if (misdirected) {
    // A preflight is the browser's own doing; and whoever looks at the server with a browser is no client.
    if (!shows(signs, isPreflight) && (hasKey || !isBrowser)) advice.push("wrong-method-or-path");
  } else if (shows(signs, hasBody) || (shows(signs, hasQuery) && !shows(signs, hasKeyInQuery))) {
    advice.push("query-or-body-sent");
  }
  return advice;
}
