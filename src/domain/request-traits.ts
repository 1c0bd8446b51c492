import { containsKey, findKeys } from "./redact.js";

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

/**
 * What one header of a request shows, for the doors that go through them all; 0 for nearly every header.
 *
 * Node's own `fetch` sends `Sec-Fetch-Mode`, so that header tells no browser; `Origin`, `Sec-Fetch-Site` and
 * `Sec-Fetch-Dest` do.
 */
export function traitsOfHeader(name: string, value: string): RequestTraits {
  // By length first: no other test is as cheap, and this one is made for every header of every request.
  switch (name.length) {
    case 6:
      return isNamed(name, "origin") ? isFromBrowser : 0;
    case 13:
      return isNamed(name, "authorization") && authorizationHoldsKey(value) ? hasKeyInAuthorization : 0;
    case 14:
      if (isNamed(name, "content-length")) return isPositive(value) ? hasBody : 0;
      return isNamed(name, "sec-fetch-site") || isNamed(name, "sec-fetch-dest") ? isFromBrowser : 0;
    case 17:
      return isNamed(name, "transfer-encoding") ? hasPieces : 0;
    case 29:
    case 30:
      return signsOfPreflight(name, value);
    default:
      return 0;
  }
}

/** What the query of a request target shows; `query` begins with its question mark, or is empty. */
export function traitsOfQuery(query: string): RequestTraits {
  if (query.length <= 1) return 0;
  return containsKey(query) ? hasQuery | hasKeyInQuery : hasQuery;
}

/** The keys that stand where no key belongs, as they were sent: for as long as the request is being handled. */
export interface StrayKeys {
  readonly inQuery: readonly string[];
  readonly inAuthorization: readonly string[];
}

/** The keys in a query and in an `Authorization`; `undefined` when the traits of the request say that there are none. */
export function strayKeysIn(
  traits: RequestTraits,
  query: string,
  authorization: () => string | null | undefined,
): StrayKeys | undefined {
  if (!shows(traits, hasKeyInQuery | hasKeyInAuthorization)) return undefined;
  const value = authorization() ?? "";
  return {
    inQuery: findKeys(query),
    inAuthorization: [...findKeys(value), ...findKeys(basicCredentials(value))],
  };
}

/** What a web `Request` shows; `search` is the query of its URL. */
export function traitsOfWebRequest({ headers, body, referrer }: Request, search: string): RequestTraits {
  let traits = traitsOfQuery(search);
  // The service worker of a page does not see the headers by which servers know a browser, but from which page it is.
  if (referrer?.startsWith("http")) traits |= isFromBrowser;
  headers.forEach((value, name) => {
    traits |= traitsOfHeader(name, value);
  });
  // Clients that made the request of one on the wire have given its length; a fetch leaves that to the network.
  if (body !== null && body !== undefined && !headers.has("content-length")) traits |= hasBody;
  return traits;
}

function signsOfPreflight(name: string, value: string): RequestTraits {
  if (isNamed(name, "access-control-request-method")) return isPreflight;
  if (!isNamed(name, "access-control-request-headers")) return 0;
  return value.toLowerCase().includes("x-api-key") ? isPreflight | isPreflightForKey : isPreflight;
}

function isNamed(name: string, lowerCase: string): boolean {
  return name === lowerCase || name.toLowerCase() === lowerCase;
}

function isPositive(contentLength: string): boolean {
  return Number.parseInt(contentLength, 10) > 0;
}

function authorizationHoldsKey(value: string): boolean {
  return containsKey(value) || containsKey(basicCredentials(value));
}

// In whatever scheme, or bare; in Basic it may be the name or the password.
function basicCredentials(authorization: string): string {
  if (authorization.slice(0, 6).toLowerCase() !== "basic ") return "";
  try {
    return atob(authorization.slice(6).trim());
  } catch {
    return "";
  }
}
