import { containsKey, findKeys } from "./redact.js";

/**
 * The traits of a request besides its method, path and key, as bits of one number, so that a request without any costs
 * nothing. They change nothing in the answer.
 */
export type RequestTraits = number;

/** A query that is not empty. */
export const hasQuery = 1;
/** A text in the query that looks like a key. */
export const hasKeyInQuery = 2;
/** An `Authorization` that holds, or encodes, a text that looks like a key. */
export const hasKeyInAuthorization = 4;
/** A header that only browsers send. */
export const isFromBrowser = 8;
/** A body of a known length that is not empty. */
export const hasBody = 16;
/** A browser's question whether a page of another origin may send a request. */
export const isPreflight = 32;
/** The same, for a request with an `x-api-key` header. */
export const isPreflightForKey = 64;

/** Returns whether one of these traits is there. */
export function shows(traits: RequestTraits, wanted: RequestTraits): boolean {
  return (traits & wanted) !== 0;
}

/**
 * Returns the traits in one header of a request; 0 for nearly every header.
 *
 * Node's own `fetch` sends `Sec-Fetch-Mode`, so that one tells no browser. A body without a length
 * (`Transfer-Encoding`) may be empty, which only its end tells, and no answer waits for that.
 */
export function traitsOfHeader(name: string, value: string): RequestTraits {
  // By length first: this runs for every header of every request.
  switch (name.length) {
    case 6:
      return isNamed(name, "origin") ? isFromBrowser : 0;
    case 13:
      return isNamed(name, "authorization") && authorizationHoldsKey(value) ? hasKeyInAuthorization : 0;
    case 14:
      if (isNamed(name, "content-length")) return Number.parseInt(value, 10) > 0 ? hasBody : 0;
      return isNamed(name, "sec-fetch-site") || isNamed(name, "sec-fetch-dest") ? isFromBrowser : 0;
    case 29:
      return isNamed(name, "access-control-request-method") ? isPreflight : 0;
    case 30:
      if (!isNamed(name, "access-control-request-headers")) return 0;
      return value.toLowerCase().includes("x-api-key") ? isPreflight | isPreflightForKey : isPreflight;
    default:
      return 0;
  }
}

/** Returns the traits in the query of a request target; `query` begins with its question mark, or is empty. */
export function traitsOfQuery(query: string): RequestTraits {
  if (query.length <= 1) return 0;
  return containsKey(query) ? hasQuery | hasKeyInQuery : hasQuery;
}

/** Returns the traits of a web `Request`; `search` is the query of its URL. */
export function traitsOfWebRequest({ headers, body, referrer }: Request, search: string): RequestTraits {
  let traits = traitsOfQuery(search);
  // A service worker sees the page that sent the request instead of the headers that only browsers send.
  if (referrer?.startsWith("http")) traits |= isFromBrowser;
  headers.forEach((value, name) => {
    traits |= traitsOfHeader(name, value);
  });
  // A request that came over a network has a length; a fetch leaves it to the network.
  if (body !== null && body !== undefined && !headers.has("content-length")) traits |= hasBody;
  return traits;
}

/** Keys in places where no key belongs, as they were sent; kept only while the request is handled. */
export interface LeakedKeys {
  readonly inQuery: readonly string[];
  readonly inAuthorization: readonly string[];
}

/** Returns the keys in a query and in an `Authorization`; `undefined` when the traits tell of none. */
export function leakedKeysIn(
  traits: RequestTraits,
  query: string,
  authorization: () => string | null | undefined,
): LeakedKeys | undefined {
  if (!shows(traits, hasKeyInQuery | hasKeyInAuthorization)) return undefined;
  const value = authorization() ?? "";
  return {
    inQuery: findKeys(query),
    inAuthorization: [...findKeys(value), ...findKeys(basicCredentials(value))],
  };
}

function isNamed(name: string, lowerCase: string): boolean {
  return name === lowerCase || name.toLowerCase() === lowerCase;
}

// In any scheme, or without one; with Basic as the name or the password.
function authorizationHoldsKey(value: string): boolean {
  return containsKey(value) || containsKey(basicCredentials(value));
}

function basicCredentials(authorization: string): string {
  if (authorization.slice(0, 6).toLowerCase() !== "basic ") return "";
  try {
    return atob(authorization.slice(6).trim());
  } catch {
    return "";
  }
}
