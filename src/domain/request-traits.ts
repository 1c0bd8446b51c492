/**
 * What a request shows besides its method, path and key: bits, put together in one number, so that a request that shows
 * nothing costs nothing. 0 is nothing.
 */
export type RequestTraits = number;

/** A query that is not empty. */
export const hasQuery = 1;
/** A text in the query that looks like a key. */
export const hasKeyInQuery = 2;
/** An `Authorization` that holds, or encodes, a text that looks like a key. */
export const hasKeyInAuthorization = 4;
/** A header that browsers add by themselves and other clients do not. */
export const isFromBrowser = 8;
/** A body that is not empty. */
export const hasBody = 16;
/** A browser that asks, before it sends a request of another origin's page, whether it may. */
export const isPreflight = 32;
/** The same, for a request with an `x-api-key` header. */
export const isPreflightForKey = 64;
/** A body that comes in pieces and says no length; whether it is empty, only its end tells. */
export const hasPieces = 128;

/** What an endpoint may ask for, and is no reason for advice then. */
export const isInput = hasQuery | hasBody | hasPieces;

/** Whether there is one of these traits. */
export function shows(traits: RequestTraits, asked: RequestTraits): boolean {
  return (traits & asked) !== 0;
}
