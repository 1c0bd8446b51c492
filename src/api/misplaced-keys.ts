import type { AdviceId } from "../rules/advice.js";
import { fingerprintOf, parseApiKey } from "../rules/api-key.js";
import { findFirstKeys } from "../rules/redact.js";
import { hasKeyElsewhere, isMeantAsKey } from "../rules/request.js";
import { redactPath } from "../rules/request-path.js";
import type { ApiCall } from "../sandbox/api-call.js";
import type { KeysOfAdvice, ShownKey } from "../sandbox/journal/counts.js";
import type { SandboxState } from "../sandbox/sandbox-state.js";

// The paths that browsers, watchdogs and load balancers request from any server.
const probedPath =
  /^\/(?:favicon\.ico|apple-touch-icon[^/]*\.png|robots\.txt|healthz?|livez|readyz|ping|status|metrics|actuator\/health(?:\/.*)?|\.well-known\/.*)?$/;

/** What the keys of a call show that are not alone in `x-api-key`, without containing one (R46). */
export interface MisplacedKeys {
  /** Whether a possibly real key is where no key belongs: well-formed, not created by a sandbox, and unknown here. */
  readonly leaksRealKey: boolean;
  /** Whether `x-api-key` contains more than the key, or a variable's name. */
  readonly isNotAlone: boolean;
  /** The key for each advice id, if it is not the key in `x-api-key`. */
  readonly keys?: KeysOfAdvice;
}

const noMisplacedKeys: MisplacedKeys = Object.freeze({ leaksRealKey: false, isNotAlone: false });

export function misplacedKeysOf(sandbox: SandboxState, call: ApiCall): MisplacedKeys {
  const { apiKey = "", evidence } = call.request;
  const isMalformed = call.presented === "malformed";
  if (!isMalformed && evidence === undefined) return noMisplacedKeys;

  const inHeader = isMalformed ? findFirstKeys(apiKey) : [];
  const isNotAlone = isMalformed && isMeantAsKey(apiKey, inHeader);
  const { inQuery = [], inUrl = [], inHeaders = [] } = evidence ?? {};
  const sentKeys = [...inQuery, ...inHeaders, ...inHeader, ...inUrl];
  if (sentKeys.length === 0 && !isNotAlone) return noMisplacedKeys;

  const keys: Partial<Record<AdviceId, ShownKey>> = {};
  const [keyInQuery] = inQuery;
  if (keyInQuery !== undefined) keys["key-in-query"] = shownKey(sandbox, keyInQuery);

  const [keyInUrl] = inUrl;
  if (keyInUrl !== undefined) keys["key-in-url"] = shownKey(sandbox, keyInUrl);

  let [keyElsewhere] = inHeaders;
  if (isNotAlone) keyElsewhere ??= inHeader[0];
  if (keyElsewhere !== undefined) keys["key-in-authorization"] = shownKey(sandbox, keyElsewhere);

  const realKey = sentKeys.find((key) => isPossiblyReal(sandbox, key));
  if (realKey !== undefined) keys["real-key-suspected"] = shownKey(sandbox, realKey);

  return { leaksRealKey: realKey !== undefined, isNotAlone, keys };
}

/** Whether a key is well-formed, not created by a sandbox, and unknown here. */
function isPossiblyReal(sandbox: SandboxState, key: string): boolean {
  if (parseApiKey(key)?.marked !== false) return false;
  return shownKey(sandbox, key).key === null;
}

/** Whether a call probes any web server, such as for a favicon. */
export function isProbe(call: ApiCall): boolean {
  const { method, path, apiKey, traits, fromStory } = call.request;
  if (call.route !== undefined || fromStory) return false;
  const hasKey = apiKey !== undefined || hasKeyElsewhere(traits);
  return !hasKey && (method === "GET" || method === "HEAD") && probedPath.test(redactPath(path));
}

function shownKey({ platform, registry }: SandboxState, key: string): ShownKey {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}
