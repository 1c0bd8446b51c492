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
  const { presented } = call;
  const { apiKey = "", evidence } = call.request;
  if (presented !== "malformed" && evidence === undefined) return noMisplacedKeys;
  const inHeader = presented === "malformed" ? findFirstKeys(apiKey) : [];
  const isNotAlone = presented === "malformed" && isMeantAsKey(apiKey, inHeader);
  const { inQuery = [], inUrl = [], inHeaders = [] } = evidence ?? {};
  const sentKeys = [...inQuery, ...inHeaders, ...inHeader, ...inUrl];
  if (sentKeys.length === 0 && !isNotAlone) return noMisplacedKeys;
  const real = sentKeys.find(
    (key) => parseApiKey(key)?.marked === false && shownKey(sandbox, key).key === null,
  );
  const notAlone = inHeaders[0] ?? (isNotAlone ? inHeader[0] : undefined);
  return {
    leaksRealKey: real !== undefined,
    isNotAlone,
    keys: {
      ...(inQuery[0] !== undefined && { "key-in-query": shownKey(sandbox, inQuery[0]) }),
      ...(inUrl[0] !== undefined && { "key-in-url": shownKey(sandbox, inUrl[0]) }),
      ...(notAlone !== undefined && { "key-in-authorization": shownKey(sandbox, notAlone) }),
      ...(real !== undefined && { "real-key-suspected": shownKey(sandbox, real) }),
    },
  };
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
