import { findKeys } from "../rules/keys/find-keys.js";
import { randomLength } from "../rules/keys/key-text.js";
import { copyText, redact } from "../rules/keys/redact.js";
import {
  type ApiRequest,
  hasKeyElsewhere,
  mergeTraits,
  type RawRequest,
  type RequestTraits,
} from "../rules/request.js";

/** A host name has at most 253 characters. */
const longestOrigin = 300;

/** The most keys of the URL, of the query and of the headers, and the most headers with a key, in the record of a request. */
const maxKeysKept = 20;

const noTraits: RequestTraits = [];
const noKeyFound: readonly string[] = [];

/** Makes the request of every adapter: sockets, web requests, stories and the control plane. */
export function readApiRequest(received: RawRequest): ApiRequest {
  const { method, authority = "", path, query, traits: adapterTraits = noTraits } = received;
  const inQuery = keysIn(query);
  const inUrl = keysIn(authority + path);
  const headers = readHeaders(received.headers);
  const inOtherHeaders = headers.keys;

  let traits = noTraits;
  // The question mark alone is no query.
  if (query.length > 1) traits = inQuery.length > 0 ? ["query", "key in query"] : ["query"];
  traits = mergeTraits(traits, adapterTraits);
  if (inUrl.length > 0) traits = mergeTraits(traits, ["key in url"]);
  traits = mergeTraits(traits, headers.traits);
  if (inOtherHeaders.length > 0) traits = mergeTraits(traits, ["key in other header"]);

  // Few requests need evidence.
  let evidence: ApiRequest["evidence"];
  if (hasKeyElsewhere(traits) || traits.includes("browser header")) {
    evidence = { inQuery, inUrl, inOtherHeaders, page: headers.page };
  }
  return {
    method,
    path,
    apiKey: headers.apiKey,
    keyHash: undefined,
    traits,
    keptHeaders: headers.kept,
    evidence,
    fromStory: false,
    dashboard: received.dashboard,
  };
}

/** What the headers of a request have. `keys` are those in other headers than `x-api-key`. */
function readHeaders(headers: readonly string[]) {
  let apiKey: string | undefined;
  let keys = noKeyFound;
  let page: string | undefined;
  let traits = noTraits;
  const kept: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase(); // names and values in turn
    const value = headers[index + 1] as string; // behind its name
    if (name === "x-api-key") {
      apiKey = apiKey === undefined ? value : `${apiKey}, ${value}`;
      continue;
    }

    traits = mergeTraits(traits, traitsOfHeader(name, value));
    if (name === "user-agent") keepHeader(kept, name, value);
    if (name === "origin" || name === "referer") page ??= originOf(value);
    let keysOfHeader = keysIn(value);
    // `Authorization` has a key in any scheme or none; with Basic, it is the name or the password.
    if (name === "authorization") keysOfHeader = [...keysOfHeader, ...keysIn(basicCredentials(value))];
    if (keysOfHeader.length === 0) continue;
    keys = [...keys, ...keysOfHeader].slice(0, maxKeysKept);
    // The journal shows where the key was.
    keepHeader(kept, name, value);
  }
  return { apiKey, keys, kept, page, traits };
}

function keysIn(text: string): readonly string[] {
  return findKeys(text).slice(0, maxKeysKept);
}

function basicCredentials(authorization: string): string {
  if (authorization.slice(0, 6).toLowerCase() !== "basic ") return "";
  try {
    return atob(authorization.slice(6).trim());
  } catch {
    return "";
  }
}

function traitsOfHeader(name: string, value: string): RequestTraits {
  switch (name) {
    case "origin":
    case "referer":
    case "sec-fetch-site":
    case "sec-fetch-dest":
      // Not `sec-fetch-mode`, which Node's `fetch` also sends.
      return ["browser header"];
    case "content-length":
      // Without this header, a body may be empty.
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

// The headers of a request that the journal keeps, without keys: `user-agent`, and each one that has a key.

const longestKeptValue = 200;
const maxHeadersKept = 1 + maxKeysKept;

/** As many letters and digits in a row as a key has behind its prefix and the mark of a sandbox. */
const longWord = new RegExp(`[\\dA-Za-z]{${randomLength},}`, "g");

/** The latest value without a key. A client repeats it, and to search it for keys again takes a part of each request. */
let latestPlainValue: string | undefined;

/** Keeps a header without keys: the first with its name, and not too many. */
function keepHeader(kept: string[], name: string, value: string): void {
  const keptName = name === "user-agent" ? name : redact(name).slice(0, longestKeptValue);
  for (let index = 0; index < kept.length; index += 2) {
    if (kept[index] === keptName) return;
  }
  if (kept.length / 2 >= maxHeadersKept) return;

  if (value === latestPlainValue) {
    kept.push(keptName, latestPlainValue);
    return;
  }
  // A client may have cut its key.
  const safe = redact(value).replace(longWord, "…");
  const keptValue = copyText(safe.slice(0, longestKeptValue));
  if (keptValue === value) latestPlainValue = keptValue;
  kept.push(keptName, keptValue);
}
