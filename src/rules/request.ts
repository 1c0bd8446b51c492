import { isKeyCharacter } from "./api-key.js";
import { findFirstKeys, findKeys, maxKeysKept, redactEncoded } from "./redact.js";
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
  /** The SHA-256 of the key that `apiKey` stands for; `undefined` for the hash of `apiKey`. */
  readonly keyHash: string | undefined;
  readonly traits: RequestTraits;
  /** The headers that the journal keeps: lower-case names and values in turn, without keys. */
  readonly keptHeaders: readonly string[];
  /** What is behind its traits; nearly always `undefined`. */
  readonly evidence: RequestEvidence | undefined;
  /** Whether a story or the control plane sends it, so that it causes no advice. */
  readonly fromStory: boolean;
  /** For people who open the base URL: what a 404 shows them. Nearly always `undefined`. */
  readonly dashboard: string | undefined;
}

/** A request as an adapter receives it, before its body and before its headers are read: what `receivedRequest` reads. */
export interface Received {
  readonly method: string;
  /** What is before the path of a request to a proxy, such as `http://user@host`. Default: nothing. */
  readonly authority?: string | undefined;
  readonly path: string;
  /** Empty, or everything from the question mark on. */
  readonly query: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** The traits that its headers do not show. Default: none. */
  readonly traits?: RequestTraits;
  /** Default: none. */
  readonly dashboard?: string | undefined;
}

/** Makes the request of every adapter: sockets, web requests, stories and the control plane. */
export function receivedRequest(received: Received): ApiRequest {
  const { method, authority = "", path, query, headers, traits, dashboard } = received;
  const headerFacts = readHeaders(headers, { beforeQuery: authority + path, query }, traits);
  return {
    method,
    path,
    apiKey: headerFacts.apiKey,
    keyHash: undefined,
    traits: headerFacts.traits,
    keptHeaders: headerFacts.keptHeaders,
    evidence: headerFacts.evidence,
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
  readonly inHeaders: readonly string[];
  /** The origin of the page that sent it, such as `https://shop.example`. */
  readonly page: string | undefined;
}

interface Target {
  /** The path, and what is before it. */
  readonly beforeQuery: string;
  readonly query: string;
}

const noTraits: RequestTraits = [];
const noKeys: readonly string[] = [];

/** Reads names and values in turn. The evidence is `undefined` if the traits need none, which is nearly always. */
export function readHeaders(
  flat: readonly string[],
  { beforeQuery, query }: Target,
  moreTraits: RequestTraits = noTraits,
) {
  let traits = mergeTraits(traitsOfQuery(query), moreTraits);
  const inUrl = keysInText(beforeQuery);
  if (inUrl.length > 0) traits = mergeTraits(traits, ["key in url"]);

  let apiKey: string | undefined;
  let inHeaders = noKeys;
  let page: string | undefined;
  const keptHeaders: string[] = [];
  for (let index = 0; index < flat.length; index += 2) {
    const name = (flat[index] as string).toLowerCase();
    const value = flat[index + 1] as string;
    if (name === "x-api-key") {
      apiKey = apiKey === undefined ? value : `${apiKey}, ${value}`;
      continue;
    }

    traits = mergeTraits(traits, traitsOfHeader(name, value));
    const keys = keysInHeader(name, value);
    if (keys.length > 0) {
      traits = mergeTraits(traits, ["key in other header"]);
      inHeaders = [...inHeaders, ...keys].slice(0, maxKeysKept);
    }

    if (name === "origin" || name === "referer") page ??= originOf(value);
    if (keptNames.includes(name)) keptHeaders.push(name, keptValue(value));
  }

  const needsEvidence = hasKeyElsewhere(traits) || traits.includes("browser header");
  const evidence: RequestEvidence | undefined = needsEvidence
    ? { inQuery: findFirstKeys(query), inUrl, inHeaders, page }
    : undefined;
  return { apiKey, traits, keptHeaders, evidence };
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
  // Every key is longer and has an underscore, which may be percent-encoded; few other texts match.
  if (text.length <= 9) return noKeys;
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

/** The last values without a key: a client repeats them, and to read them again would take 3% to 7% of a request. */
const plainValues: string[] = [];

/** The value of a header as the journal keeps it: without keys, and not too long. */
function keptValue(value: string): string {
  if (plainValues.includes(value)) return value;
  const stored = copyText(redactEncoded(value).slice(0, longestKeptValue));
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

/** How shells and templates insert a variable, and how our variables start. */
const openings: readonly string[] = ["${", "$(", "{{", "SVC_KEY_"];
/** How programs read a variable. */
const readings: readonly string[] = [".env.", "os.environ"];
/** The variable of the default key, and how languages print a variable without a value. */
const bareNames: readonly string[] = ["SVC_API_KEY", "undefined", "null", "None"];

const quotationMarks: readonly string[] = ['"', "'"];

/**
 * Whether a malformed key was meant as a key: a key after a scheme or quotation mark (`keys` lists the keys found in
 * it), or the name of a variable that was never replaced.
 *
 * @example
 * isMeantAsKey("Bearer SVC_test_sbx0abc", ["SVC_test_sbx0abc"]); // true
 * isMeantAsKey("$SVC_API_KEY", []); // true
 * isMeantAsKey("not-a-key", []); // false
 */
export function isMeantAsKey(text: string, keys: readonly string[]): boolean {
  if (isUnexpanded(text)) return true;
  const [key] = keys;
  if (key === undefined) return false;

  // A scheme, a name or a quotation mark is before the key; at most the other mark is behind it.
  const start = text.indexOf(key);
  const lengthBehind = text.length - start - key.length;
  return start > 0 && lengthBehind <= 1;
}

/** Whether a text is a variable that nothing has replaced. */
function isUnexpanded(text: string): boolean {
  // Not a regular expression: V8 keeps the last string it was run on, and this one may be a key (R46).
  let bare = text;
  for (const mark of quotationMarks) {
    if (!text.startsWith(mark)) continue;
    bare = text.slice(1);
    if (bare.endsWith(mark)) bare = bare.slice(0, -1);
  }
  if (bareNames.includes(bare)) return true;
  if (openings.some((opening) => bare.startsWith(opening))) return true;
  if (readings.some((reading) => bare.includes(reading))) return true;
  if (bare.startsWith("$")) return isKeyCharacter(bare.charCodeAt(1));
  return bare.startsWith("%") && bare.endsWith("%") && bare.length > 2;
}
