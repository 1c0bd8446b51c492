import { isSandboxKey, isWellFormedKey, keyPrefixes, sandboxMark } from "../../domain/api-key.js";
import {
  containsKey,
  findFirstKeys,
  findKeys,
  redactEncoded,
  redactKeys,
  redactPath,
  redactValue,
} from "../../domain/redact.js";
import { isMeantAsKey, type RequestEvidence, type RequestTraits } from "../../domain/request-traits.js";
import type { ApiRequest, RequestContent } from "../../history/exchange.js";
import type { ControlCall } from "../log.js";

/** A request without any key that its client sent: a mask stands for each. */
export interface MaskedRequest extends Omit<ApiRequest, "connection" | "delivery" | "traits" | "fromStory"> {
  readonly traits?: RequestTraits | undefined;
  readonly fromStory?: true | undefined;
  /** Each mask, followed by the SHA-256 of what it stands for. */
  readonly hashes: readonly string[];
}

// As many characters of a hash as a sandbox's key has behind its mark: enough that no two keys have one mask.
const shortMask = 29;
const longMask = 5;

/** The SHA-256 of what a mask stands for; `undefined` for any other text. */
export function hashOf(mask: string, hashes: readonly string[]): string | undefined {
  const index = hashes.indexOf(mask);
  return index % 2 === 0 ? hashes[index + 1] : undefined;
}

/**
 * Replaces every key in a request by a mask, so that the request can be stored and is still handled as it was sent.
 *
 * A mask is a key of the same form (prefix, mark of a sandbox, well-formed or not) that depends on the SHA-256 of the key
 * alone. Whoever handles the request has to take the given hash for that of the mask.
 */
export function maskRequest(request: ApiRequest, sha256: (text: string) => string): MaskedRequest {
  const { method, path, apiKey, traits, evidence, content, fromStory } = request;
  const hashes: string[] = [];
  const mask = (key: string): string => {
    const hash = sha256(key);
    const masked = maskOf(key, hash);
    if (!hashes.includes(masked)) hashes.push(masked, hash);
    return masked;
  };
  const inPath = path.includes("_") || path.includes("%") ? findFirstKeys(path) : [];
  // Of one form and without spreads, which would take as long as all the rest to put into words.
  return {
    method,
    path: shownPath(path),
    apiKey: apiKey === undefined || isWellFormedKey(apiKey) ? apiKey && mask(apiKey) : maskMalformed(),
    keysInPath: inPath.length > 0 ? inPath.map(mask) : undefined,
    traits: traits === 0 ? undefined : traits,
    evidence: evidence && maskEvidence(evidence),
    content: content && maskContent(content),
    fromStory: fromStory === true ? fromStory : undefined,
    hashes,
  };

  function maskEvidence({ inQuery, inHeaders, page }: RequestEvidence): RequestEvidence {
    return {
      inQuery: inQuery.map(mask),
      inHeaders: inHeaders.map(mask),
      page: page && redactEncoded(page),
    };
  }

  // What is no key may be any other secret: only what is asked of it is kept.
  function maskMalformed(): string {
    const text = apiKey as string;
    const keys = findFirstKeys(text);
    const masked = [isMeantAsKey(text, keys) ? "${" : "?", ...keys.map(mask), "??"].join(" ");
    hashes.push(masked, sha256(text));
    return masked;
  }
}

// Nearly all requests have the same few paths; one that shows nothing of a key may be kept.
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
  // What is too long for a key stays so.
  if (!isWellFormedKey(key)) return prefix + mark + hash.repeat(longMask);
  return prefix + mark + (isSandboxKey(key) ? hash.slice(0, shortMask) : hash);
}

// A key here is a mistake: it is cut short. Whether there is one in the body decides about the response.
function maskContent({ query, contentType, idempotencyKey, body }: RequestContent): RequestContent {
  return {
    query: redactKeys(query),
    contentType: contentType && redactKeys(contentType),
    // It would not be taken with a key in it, whatever that is.
    idempotencyKey: idempotencyKey && (findKeys(idempotencyKey).length > 0 ? "" : idempotencyKey),
    body: { ...body, text: redactKeys(body.text, (found) => (containsKey(found) ? "x" : "…")) },
  };
}

/**
 * Cuts every key short that stands in a call to the control plane, where none belongs. Those that a scenario pins stay: its
 * world has them, and a state file as well.
 */
export function maskCall({ params, body, ...call }: ControlCall): ControlCall {
  const isScenario = (name: string, member: unknown) => name === "scenario" && typeof member !== "string";
  const shown = call.isYaml ? body : redactValue(body, redactKeys, isScenario);
  return { ...call, params: redactValue(params, redactKeys, isScenario), body: shown };
}
