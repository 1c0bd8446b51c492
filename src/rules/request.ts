import { findFirstKeys, findKeys, maxKeysKept, redact } from "./redact.js";
import { copyText } from "./request-path.js";

/** The headers that the journal keeps, without keys: who sent a request, and what it accepts. */
const keptNames: readonly string[] = ["user-agent", "accept", "content-type", "traceparent"];
const longestKeptValue = 200;

/** A host name has at most 253 characters. */
const longestOrigin = 300;

/** A request to the API as plain data. Every member is required: `receivedRequest` makes it for every adapter. */
export interface ApiRequest {
  /** Upper case, as HTTP sends it. */
  readonly method: string;
  /** The path without its query, still percent-encoded. */
  readonly path: string;
  /** The value of `x-api-key`, which each adapter gets trimmed; several are joined by `, `. `undefined` without this header. */
  readonly apiKey: string | undefined;
  /** The SHA-256 of the presented key, if the sender has only the hash of it. Default: that of `apiKey`. */
  readonly keyHash: string | undefined;
  readonly traits: RequestTraits;
  /** The headers that the journal keeps: lower-case names and values in turn, without keys. */
  readonly keptHeaders: readonly string[];
  /** What is behind its traits; nearly always `undefined`. */
  readonly evidence: RequestEvidence | undefined;
  /** Whether a story or the control plane sends it, so that it causes no advice. */
  readonly fromStory: boolean;
  /** The address of the dashboard, which a 404 shows to people who open the base URL. Nearly always `undefined`. */
  readonly dashboard: string | undefined;
}

/** A request as an adapter receives it: `receivedRequest` reads it. */
export interface Received {
  readonly method: string;
  /** What is before the path of a request to a proxy, such as `http://user@host`. Default: nothing. */
  readonly authority?: string | undefined;
  readonly path: string;
  /** Empty, or everything from the question mark on. */
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** The traits that only its adapter knows, such as a body without a length. Default: none. */
  readonly traits?: RequestTraits;
  /** As in `ApiRequest`. Default: none. */
  readonly dashboard?: string | undefined;
}

/** Makes the request of every adapter: sockets, web requests, stories and the control plane. */
export function receivedRequest(received: Received): ApiRequest {
  const { method, authority = "", path, query, headers, traits, dashboard } = received;
  const facts = readHeaders(headers, { beforeQuery: authority + path, query }, traits);
  return {
    method,
    path,
    apiKey: facts.apiKey,
    keyHash: undefined,
    traits: facts.traits,
    keptHeaders: facts.keptHeaders,
    evidence: facts.evidence,
    fromStory: false,
    dashboard,
  };
}

/** What a request shows besides its method, path and key. */
export type RequestTrait =
  /** A query that is not empty. */
  | "query"
  /** A text that looks like a key in the query. */
  | "key in query"
  /** A text that looks like a key in the path, or before it. */
  | "key in url"
  /** A text that looks like a key in a header other than `x-api-key`, such as `Authorization`, `api-key` or `Cookie`. */
  | "key in other header"
  /** A header that only browsers send; a proxy may have forwarded it. */
  | "browser header"
  /** A non-empty body of a known length. */
  | "body"
  /** A browser's preflight request for a page of another origin. */
  | "preflight"
  /** A preflight request before a request with an `x-api-key` header. */
  | "preflight for key"
  /** Sent by the page that runs the sandbox, with no proxy in between. */
  | "from page";

export type RequestTraits = readonly RequestTrait[];

/** Who sent a request: a client, or the story and `POST /send`. */
export const requestSources = ["client", "story"] as const;

/** The traits of two lists, each once. */
export function mergeTraits(traits: RequestTraits, moreTraits: RequestTraits): RequestTraits {
  return moreTraits.length === 0 ? traits : [...new Set([...traits, ...moreTraits])];
}

const keyTraits: RequestTraits = ["key in query", "key in url", "key in other header"];

/** Whether a key is somewhere else than in `x-api-key`. */
export function hasKeyElsewhere(traits: RequestTraits): boolean {
  return traits.length > 0 && keyTraits.some((trait) => traits.includes(trait));
}

/** The sent values behind a request's traits; kept only while the request is handled. */
interface RequestEvidence {
  readonly inQuery: readonly string[];
  /** In the path, or before it. */
  readonly inUrl: readonly string[];
  readonly inOtherHeaders: readonly string[];
  /** The origin of the page that sent it, such as `https://shop.example`. */
  readonly page: string | undefined;
}

interface Target {
  /** The path, and what is before it. */
  readonly beforeQuery: string;
  readonly query: string;
}

/** What the headers of a request and its target show. */
interface HeaderFacts extends Pick<ApiRequest, "apiKey" | "traits" | "keptHeaders" | "evidence"> {}

const noTraits: RequestTraits = [];
const noKeys: readonly string[] = [];

/** Reads headers, which are names and values in turn, and the target. The evidence is `undefined` if the traits need none. */
export function readHeaders(
  headers: readonly string[],
  { beforeQuery, query }: Target,
  moreTraits: RequestTraits = noTraits,
): HeaderFacts {
  let traits = mergeTraits(traitsOfQuery(query), moreTraits);
  if (keysInText(beforeQuery).length > 0) traits = mergeTraits(traits, ["key in url"]);

  let apiKey: string | undefined;
  const keptHeaders: string[] = [];
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    const value = headers[index + 1] as string;
    if (name === "x-api-key") {
      apiKey = apiKey === undefined ? value : `${apiKey}, ${value}`;
      continue;
    }

    traits = mergeTraits(traits, traitsOfHeader(name, value));
    if (keysInHeader(name, value).length > 0) traits = mergeTraits(traits, ["key in other header"]);
    if (keptNames.includes(name)) keptHeaders.push(name, keptValue(value));
  }

  const needsEvidence = hasKeyElsewhere(traits) || traits.includes("browser header");
  const evidence = needsEvidence ? readEvidence(headers, beforeQuery, query) : undefined;
  return { apiKey, traits, keptHeaders, evidence };
}

/** Reads the evidence of a request that needs it. Few do, so that the headers are read once more. */
function readEvidence(headers: readonly string[], beforeQuery: string, query: string): RequestEvidence {
  let inOtherHeaders = noKeys;
  let page: string | undefined;
  for (let index = 0; index < headers.length; index += 2) {
    const name = (headers[index] as string).toLowerCase();
    const value = headers[index + 1] as string;
    if (name === "x-api-key") continue;

    const keys = keysInHeader(name, value);
    if (keys.length > 0) inOtherHeaders = [...inOtherHeaders, ...keys].slice(0, maxKeysKept);
    if (name === "origin" || name === "referer") page ??= originOf(value);
  }
  return { inQuery: findFirstKeys(query), inUrl: keysInText(beforeQuery), inOtherHeaders, page };
}

function traitsOfQuery(query: string): RequestTraits {
  if (query.length <= 1) return noTraits;
  return findKeys(query).length > 0 ? ["query", "key in query"] : ["query"];
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

/** The keys in a header. `Authorization` has one in any scheme or none; with Basic, it is the name or the password. */
function keysInHeader(name: string, value: string): readonly string[] {
  if (name !== "authorization") return keysInText(value);
  return [...findFirstKeys(value), ...findFirstKeys(basicCredentials(value))];
}

function keysInText(text: string): readonly string[] {
  // Few other texts are as long as a key, and have an underscore, which may be percent-encoded.
  if (text.length <= "SVC_test_".length) return noKeys;
  if (!text.includes("_") && !text.includes("%")) return noKeys;
  return findFirstKeys(text);
}

function basicCredentials(authorization: string): string {
  if (authorization.slice(0, 6).toLowerCase() !== "basic ") return "";
  try {
    return atob(authorization.slice(6).trim());
  } catch {
    return "";
  }
}

/** The latest values without a key: a client repeats them, and to read them again would take 3% to 7% of a request. */
const plainValues: string[] = [];

/** The value of a header as the journal keeps it: without keys, and not too long. */
function keptValue(value: string): string {
  if (plainValues.includes(value)) return value;
  const stored = copyText(redact(value).slice(0, longestKeptValue));
  if (stored === value) {
    plainValues.unshift(stored);
    if (plainValues.length > keptNames.length) plainValues.pop();
  }
  return stored;
}

function originOf(url: string): string | undefined {
  try {
    const { origin } = new URL(url);
    return origin.length > longestOrigin ? undefined : copyText(origin);
  } catch {
    return undefined;
  }
}
