import { copyText } from "./copy-text.js";
import { findKeys } from "./find-keys.js";
import { addKeptHeader } from "./kept-headers.js";
import type { ApiRequest, Received, RequestEvidence } from "./request.js";
import { hasKeyElsewhere, mergeTraits, type RequestTraits } from "./request-traits.js";

/** A host name has at most 253 characters. */
const longestOrigin = 300;

/** The most keys of one place in the record of a request, which must not grow with repeated keys. */
const maxKeysKept = 20;

const noTraits: RequestTraits = [];
const noKeyFound: readonly string[] = [];

/** Makes the request of every adapter: sockets, web requests, stories and the control plane. */
export function readApiRequest(received: Received): ApiRequest {
  const { method, authority = "", path, query, headers, traits: adapterTraits = noTraits } = received;

  // The query, the path, and what is before it.
  const inQuery = keysIn(query);
  const inUrl = keysIn(authority + path);
  let traits = mergeTraits(traitsOfQuery(query, inQuery), adapterTraits);
  if (inUrl.length > 0) traits = mergeTraits(traits, ["key in url"]);

  // The headers.
  let apiKey: string | undefined;
  const keptHeaders: string[] = [];
  let inOtherHeaders = noKeyFound;
  let page: string | undefined;
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    const value = headers[index + 1] as string;
    if (name === "x-api-key") {
      apiKey = apiKey === undefined ? value : `${apiKey}, ${value}`;
      continue;
    }

    traits = mergeTraits(traits, traitsOfHeader(name, value));
    addKeptHeader(keptHeaders, name, value);
    if (name === "origin" || name === "referer") page ??= originOf(value);
    const keys = keysInHeader(name, value);
    if (keys.length === 0) continue;
    traits = mergeTraits(traits, ["key in other header"]);
    inOtherHeaders = [...inOtherHeaders, ...keys].slice(0, maxKeysKept);
  }

  // Few requests need evidence.
  let evidence: RequestEvidence | undefined;
  if (hasKeyElsewhere(traits) || traits.includes("browser header")) {
    evidence = { inQuery, inUrl, inOtherHeaders, page };
  }
  return {
    method,
    path,
    apiKey,
    keyHash: undefined,
    traits,
    keptHeaders,
    evidence,
    fromStory: false,
    dashboard: received.dashboard,
  };
}

/** The first keys in a text. */
function keysIn(text: string): readonly string[] {
  // Few other texts are as long as a key, and have an underscore, which may be encoded.
  if (text.length <= "SVC_test_".length) return noKeyFound;
  if (!text.includes("_") && !text.includes("%") && !text.includes("\\")) return noKeyFound;
  const keys = findKeys(text);
  return keys.length > maxKeysKept ? keys.slice(0, maxKeysKept) : keys;
}

/** The keys in a header. `Authorization` has one in any scheme or none; with Basic, it is the name or the password. */
function keysInHeader(name: string, value: string): readonly string[] {
  if (name !== "authorization") return keysIn(value);
  return [...keysIn(value), ...keysIn(basicCredentials(value))];
}

function basicCredentials(authorization: string): string {
  if (authorization.slice(0, 6).toLowerCase() !== "basic ") return "";
  try {
    return atob(authorization.slice(6).trim());
  } catch {
    return "";
  }
}

function traitsOfQuery(query: string, keys: readonly string[]): RequestTraits {
  // The question mark alone is no query.
  if (query.length <= 1) return noTraits;
  return keys.length > 0 ? ["query", "key in query"] : ["query"];
}

/** Node's `fetch` also sends `Sec-Fetch-Mode`, so that does not identify a browser; a body without a length may be empty. */
function traitsOfHeader(name: string, value: string): RequestTraits {
  switch (name) {
    case "origin":
    case "referer":
    case "sec-fetch-site":
    case "sec-fetch-dest":
      return ["browser header"];
    case "content-length":
      return Number.parseInt(value, 10) > 0 ? ["body"] : noTraits;
    case "access-control-request-method":
      return ["preflight"];
    case "access-control-request-headers":
      return value.toLowerCase().includes("x-api-key") ? ["preflight", "preflight for key"] : ["preflight"];
    default:
      return noTraits;
  }
}

/** The origin of a URL; `undefined` for a text that has none. */
function originOf(url: string): string | undefined {
  try {
    const { origin } = new URL(url);
    // Only the schemes of the web have an origin.
    if (origin === "null" || origin.length > longestOrigin) return undefined;
    return copyText(origin);
  } catch {
    return undefined;
  }
}
