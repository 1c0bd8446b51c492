import { formOfKey, isSandboxKey, isWellFormedKey, keyPrefixes, sandboxMark } from "../spec/api-key.js";
import { containsKey, findFirstKeys, redactEncoded, redactPath, redactValue } from "../spec/redact.js";
import type { ApiRequest, RequestContent } from "../spec/request.js";
import { headerIn, isMeantAsKey, type RequestEvidence, type RequestTraits } from "../spec/request-traits.js";
import { parsedJson } from "../spec/schema/json.js";

/** A request with a mask in place of each key that its client sent. */
export interface MaskedRequest extends Omit<ApiRequest, "traits" | "fromStory"> {
  /** `undefined` for the usual value, so that the text of a request stays short. */
  readonly traits: RequestTraits | undefined;
  readonly fromStory: true | undefined;
  /** Each mask, followed by the SHA-256 of the masked text. */
  readonly hashes: readonly string[];
}

// The length of a sandbox key after its mark: enough that no two keys share a mask.
const shortMask = 29;
const longMask = 5;

export function hashOf(mask: string, hashes: readonly string[]): string | undefined {
  const index = hashes.indexOf(mask);
  return index % 2 === 0 ? hashes[index + 1] : undefined;
}

export function unmaskedRequest({ hashes: _, traits = 0, ...same }: MaskedRequest): ApiRequest {
  return { ...same, traits, fromStory: same.fromStory === true };
}

/**
 * Replaces every key in a request with a mask, so that the request can be stored and handled with the same outcome. A
 * mask is a key of the same form (prefix, sandbox mark, well-formed or not) that depends only on the key's SHA-256. The
 * handler must use this SHA-256 instead of hashing the mask. `routed` is the path without keys if the API has it.
 */
export function maskRequest(
  request: ApiRequest,
  sha256: (text: string) => string,
  routed?: string,
): MaskedRequest {
  const { method, path, apiKey, keyHash, traits, client, evidence, content, checked, fromStory } = request;
  const hashes: string[] = [];
  const mask = (key: string): string => {
    const hash = sha256(key);
    const masked = maskOf(key, hash);
    if (!hashes.includes(masked)) hashes.push(masked, hash);
    return masked;
  };
  const inPath = path.includes("_") || path.includes("%") ? findFirstKeys(path) : [];
  // One shape without spreads: otherwise serializing would take as long as everything else.
  return {
    method,
    path: routed ?? shownPath(path),
    apiKey: apiKey === undefined || isWellFormedKey(apiKey) ? apiKey && mask(apiKey) : maskMalformed(),
    keyHash,
    keysInPath: inPath.length > 0 ? inPath.map(mask) : undefined,
    traits: traits === 0 ? undefined : traits,
    client,
    keyForm: apiKey === undefined || isSandboxKey(apiKey) ? undefined : formOfKey(apiKey),
    evidence: evidence && maskEvidence(evidence),
    content: content && maskContent(content),
    checked,
    fromStory: fromStory ? true : undefined,
    hashes,
  };

  function maskEvidence({ inQuery, inHeaders, page }: RequestEvidence): RequestEvidence {
    return { inQuery: inQuery.map(mask), inHeaders: inHeaders.map(mask), page: page && redactEncoded(page) };
  }

  // A malformed key may be another secret, so that only the properties that matter are stored.
  function maskMalformed(): string {
    const text = apiKey as string;
    const keys = findFirstKeys(text);
    const masked = [isMeantAsKey(text, keys) ? "${" : "?", ...keys.map(mask), "??"].join(" ");
    hashes.push(masked, sha256(text));
    return masked;
  }
}

// Caches the last path without a key: nearly all requests have the same path.
let plainPath = "";
function shownPath(path: string): string {
  if (path === plainPath) return path;
  const shown = redactPath(path);
  if (shown === path) plainPath = shown;
  return shown;
}

function maskOf(key: string, hash: string): string {
  const { prefix = "" } = keyPrefixes.find((row) => key.startsWith(row.prefix)) ?? {};
  const mark = key.startsWith(sandboxMark, prefix.length) ? sandboxMark : "";
  // A text that is too long for a key must stay too long.
  if (!isWellFormedKey(key)) return prefix + mark + hash.repeat(longMask);
  return prefix + mark + (isSandboxKey(key) ? hash.slice(0, shortMask) : hash);
}

// A key in the content is a mistake. The response depends on whether the body contains one.
function maskContent({ query, contentType, idempotencyKey, headers, body }: RequestContent): RequestContent {
  const kept = ["prefer", "accept"].flatMap((name) => {
    const value = headerIn(headers, name);
    return value === undefined || containsKey(value) ? [] : [name, value];
  });
  return {
    // The others are only for the check, which was made before.
    headers: kept,
    query: redactEncoded(query),
    contentType: contentType && redactEncoded(contentType),
    // The API rejects an idempotency key that contains any key.
    idempotencyKey: idempotencyKey && (containsKey(idempotencyKey) ? "" : idempotencyKey),
    body: { ...body, text: containsKey(body.text) ? maskBody(body.text) : body.text },
  };
}

function maskBody(text: string): string {
  const body = parsedJson(text);
  return body === undefined ? "…" : JSON.stringify(redactValue(body, (found) => redactEncoded(found, "x")));
}
