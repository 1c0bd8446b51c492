import type { AdviceId } from "../rules/advice.js";
import { findKeys } from "../rules/find-keys.js";
import { fingerprintOf, hasSandboxMark, isWellFormedKey } from "../rules/key-text.js";
import { isMeantAsKey } from "../rules/meant-key.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";

/** A key that a call has anywhere: its ref, if the sandbox has the key, and its fingerprint. */
type MentionedKey = Pick<Exchange, "key" | "fingerprint">;

/** What a call shows of keys that are elsewhere than alone in `x-api-key`. Contains no key (R46). */
export interface MisplacedKeys {
  /** Whether a possibly real key is where no key belongs: well-formed, not created by a sandbox, and unknown here. */
  readonly leaksRealKey: boolean;
  /** Whether a malformed `x-api-key` is a spoiled key: one with other text, or a variable's name in place of a key. */
  readonly isSpoiledKey: boolean;
  /** The key that each advice is about, if it is not the key in `x-api-key`. */
  readonly keysOfAdvice: Exchange["keysOfAdvice"];
}

const noKeys: readonly string[] = [];

const noMisplacedKeys: MisplacedKeys = Object.freeze({
  leaksRealKey: false,
  isSpoiledKey: false,
  keysOfAdvice: undefined,
});

/** Finds the keys of a call that are not alone in `x-api-key`. */
export function findMisplacedKeys(sandbox: SandboxState, call: ApiCall): MisplacedKeys {
  const { apiKey = "", evidence } = call.request;
  const isMalformed = call.presented === "malformed";
  if (!isMalformed && evidence === undefined) return noMisplacedKeys;

  // The keys by their places. A well-formed `x-api-key` is where it belongs; a malformed one may be a key with other text around it.
  const { inQuery = noKeys, inUrl = noKeys, inOtherHeaders = noKeys } = evidence ?? {};
  const inApiKeyHeader = isMalformed ? findKeys(apiKey) : noKeys;
  const isSpoiledKey = isMalformed && isMeantAsKey(apiKey, inApiKeyHeader);
  const allKeys = [...inQuery, ...inOtherHeaders, ...inApiKeyHeader, ...inUrl];
  if (allKeys.length === 0 && !isSpoiledKey) return noMisplacedKeys;

  // One advice is about all headers: about `x-api-key`, too, if its key is spoiled.
  const inHeaders = isSpoiledKey ? [...inOtherHeaders, ...inApiKeyHeader] : inOtherHeaders;

  // Each advice is about the first key of its place.
  const [keyInQuery] = inQuery;
  const [keyInUrl] = inUrl;
  const [keyInHeader] = inHeaders;
  const realKey = allKeys.find((key) => isPossiblyReal(sandbox, key));
  const keys: Partial<Record<AdviceId, MentionedKey>> = {};
  if (keyInQuery !== undefined) keys["key-in-query"] = mentionedKey(sandbox, keyInQuery);
  if (keyInUrl !== undefined) keys["key-in-url"] = mentionedKey(sandbox, keyInUrl);
  if (keyInHeader !== undefined) keys["key-in-authorization"] = mentionedKey(sandbox, keyInHeader);
  if (realKey !== undefined) keys["real-key-suspected"] = mentionedKey(sandbox, realKey);
  return { leaksRealKey: realKey !== undefined, isSpoiledKey, keysOfAdvice: keys };
}

/** Whether a key is well-formed, not created by a sandbox, and unknown here. */
function isPossiblyReal(sandbox: SandboxState, key: string): boolean {
  if (!isWellFormedKey(key) || hasSandboxMark(key)) return false;
  return mentionedKey(sandbox, key).key === null;
}

/** A key without its characters: its ref, if the sandbox has it, and its fingerprint. */
function mentionedKey({ platform, registry }: SandboxState, key: string): MentionedKey {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}
