import { containsKey } from "../domain/find-key.js";
import {
  hasBody,
  hasKeyInAuthorization,
  hasKeyInQuery,
  hasQuery,
  isFromBrowser,
  isPreflight,
  isPreflightForKey,
  type RequestSigns,
} from "../domain/request-signs.js";

/**
 * What one header of a request shows, for the doors that go through them all; 0 for nearly every header.
 *
 * Node's own `fetch` sends `Sec-Fetch-Mode`, so that header tells no browser; `Origin`, `Sec-Fetch-Site` and
 * `Sec-Fetch-Dest` do.
 */
export function signsOfHeader(name: string, value: string): RequestSigns {
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
      return isNamed(name, "transfer-encoding") ? hasBody : 0;
    case 29:
    case 30:
      return signsOfPreflight(name, value);
    default:
      return 0;
  }
}

/** What the query of a request target shows; `query` begins with its question mark, or is empty. */
export function signsOfQuery(query: string): RequestSigns {
  if (query.length <= 1) return 0;
  return containsKey(query) ? hasQuery | hasKeyInQuery : hasQuery;
}

/** What a web `Request` shows; `search` is the query of its URL. */
export function signsOfWebRequest({ headers, body, referrer }: Request, search: string): RequestSigns {
  let signs = signsOfQuery(search);
  // The service worker of a page does not see the headers by which servers know a browser, but from which page it is.
  if (referrer?.startsWith("http")) signs |= isFromBrowser;
  headers.forEach((value, name) => {
    signs |= signsOfHeader(name, value);
  });
  // Clients that made the request of one on the wire have given its length; a fetch leaves that to the network.
  if (body !== null && body !== undefined && !headers.has("content-length")) signs |= hasBody;
  return signs;
}

function signsOfPreflight(name: string, value: string): RequestSigns {
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

// In whatever scheme, or bare; in Basic it may be the name or the password.
function authorizationHoldsKey(value: string): boolean {
  if (containsKey(value)) return true;
  if (value.slice(0, 6).toLowerCase() !== "basic ") return false;
  try {
    return containsKey(atob(value.slice(6).trim()));
  } catch {
    return false;
  }
}
