import type { AdviceId } from "../rules/advice.js";
import { findKeys, isMeantAsKey } from "../rules/keys/find-keys.js";
import { fingerprintOf, hasSandboxMark, isWellFormedKey } from "../rules/keys/key-text.js";
import type { ApiCall } from "../sandbox/call.js";
import type { Exchange } from "../sandbox/journal/exchange.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";

/** The keys of a call that are not alone in `x-api-key`, and what they show. Contains no key (R46). */
export interface MisplacedKeys {
  /** Whether one of them may be a real key: well-formed, not created by a sandbox, and unknown here. */
  readonly leaksRealKey: boolean;
  /** Whether `x-api-key` was meant as a key, but is none: it has text around a key, or a variable's name in place of a key. */
  readonly isAlmostKey: boolean;
  /** The key that each advice is about, if it is not the key in `x-api-key`. */
  readonly keysOfAdvice: Exchange["keysOfAdvice"];
}

/** A key that is not alone in `x-api-key`, and the advice on its place. */
interface KeyElsewhere {
  readonly key: string;
  /** `null` in a text in `x-api-key` that was not meant as a key: it has no advice, but may still contain a real key. */
  readonly advice: "key-in-query" | "key-in-authorization" | "key-in-url" | null;
}

const noMisplacedKeys: MisplacedKeys = Object.freeze({
  leaksRealKey: false,
  isAlmostKey: false,
  keysOfAdvice: undefined,
});

/** Finds the keys of a call that are not alone in `x-api-key`. */
export function findMisplacedKeys(sandbox: SandboxState, call: ApiCall): MisplacedKeys {
  const isMalformed = call.presented === "malformed";
  const { apiKey = "", evidence } = call.request;
  // Nearly all calls: the only key is alone in `x-api-key`.
  if (!isMalformed && evidence === undefined) return noMisplacedKeys;

  // The keys within a text in `x-api-key` that is no key itself.
  let keysInText: readonly string[] = [];
  let isAlmostKey = false;
  if (isMalformed) {
    keysInText = findKeys(apiKey);
    isAlmostKey = isMeantAsKey(apiKey, keysInText);
  }

  // All keys by their places, those in the query first.
  const keysElsewhere: KeyElsewhere[] = [];
  for (const key of evidence?.inQuery ?? []) keysElsewhere.push({ key, advice: "key-in-query" });
  for (const key of evidence?.inOtherHeaders ?? []) {
    keysElsewhere.push({ key, advice: "key-in-authorization" });
  }
  // The advice on other headers is also about an almost-key in `x-api-key`: send the key alone.
  const adviceOnText = isAlmostKey ? "key-in-authorization" : null;
  for (const key of keysInText) keysElsewhere.push({ key, advice: adviceOnText });
  for (const key of evidence?.inUrl ?? []) keysElsewhere.push({ key, advice: "key-in-url" });
  if (keysElsewhere.length === 0 && !isAlmostKey) return noMisplacedKeys;

  // The advice on a place names the first key in that place.
  const keysOfAdvice: Partial<Record<AdviceId, ReturnType<typeof mentionedKey>>> = {};
  for (const { key, advice } of keysElsewhere) {
    if (advice !== null) keysOfAdvice[advice] ??= mentionedKey(sandbox, key);
  }
  // `real-key-suspected` names the first key that may be real, in whatever place.
  const realKey = keysElsewhere.find(({ key }) => mayBeReal(sandbox, key));
  if (realKey !== undefined) keysOfAdvice["real-key-suspected"] = mentionedKey(sandbox, realKey.key);
  return { leaksRealKey: realKey !== undefined, isAlmostKey, keysOfAdvice };
}

/** Whether a key may be one of the real service: it is well-formed, not created by a sandbox, and unknown here. */
function mayBeReal(sandbox: SandboxState, key: string): boolean {
  if (!isWellFormedKey(key) || hasSandboxMark(key)) return false;
  return mentionedKey(sandbox, key).key === null;
}

/** A key as a journal mentions it: its ref, if the sandbox has it, and its fingerprint. */
function mentionedKey(
  { platform, registry }: SandboxState,
  key: string,
): Pick<Exchange, "key" | "fingerprint"> {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}
