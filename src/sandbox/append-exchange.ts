import { fingerprintOf, parseApiKey } from "../rules/api-key.js";
import { findFirstKeys, redactPath } from "../rules/redact.js";
import { isMeantAsKey, shows, traitBit } from "../rules/request.js";
import { type ObservedCall, observe, type ShownKey } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import type { SandboxState } from "./sandbox.js";

/** Appends an exchange to the journal, with advice, and counts it for the report: the journal forgets, the counters do not. */
export function appendExchange(sandbox: SandboxState, exchange: Exchange, call: ObservedCall): void {
  exchange.isProbe = isProbeOfServer(call);
  const misplaced = misplacedKeys(sandbox, call);
  if (misplaced?.isNotAlone) exchange.traits |= traitBit.keyInOtherHeader;
  if (misplaced?.hasRealKey) exchange.leaksRealKey = true;
  if (isCounted(exchange)) {
    const { run } = sandbox.platform;
    // No advice if the response hides what was wrong with the request.
    if (run?.end === undefined && !isUnremarkable(sandbox, exchange)) observe(sandbox, call, exchange);
    sandbox.counters.count(exchange, misplaced?.keys, run?.observe(sandbox, exchange));
  }
  sandbox.history.record(exchange);
}

/** Whether the report counts a request: a client sent it to the API. */
export function isCounted({ fromStory, isProbe, isMisdirected, path }: Exchange): boolean {
  return !fromStory && !isProbe && !(isMisdirected && path.includes(ownPaths));
}

// True for nearly every 200: no advice depends on it.
function isUnremarkable(
  { behavior }: SandboxState,
  { traits, pathId, leaksRealKey, fingerprint }: Exchange,
): boolean {
  const isSuccess = pathId === "200.test" || pathId === "200.live";
  return isSuccess && traits === 0 && !leaksRealKey && !behavior.rejected.has(fingerprint ?? "");
}

// The paths that browsers, watchdogs and load balancers request from any server.
const probedPath =
  /^\/(?:favicon\.ico|apple-touch-icon[^/]*\.png|robots\.txt|healthz?|livez|readyz|ping|status|metrics|actuator\/health(?:\/.*)?|\.well-known\/.*)?$/;

function isProbeOfServer(call: ObservedCall): boolean {
  const { method, path, apiKey, traits, fromStory } = call.request;
  // Checked first, because it is cheap and every request gets here.
  if (call.route !== undefined || fromStory) return false;
  const hasKey = apiKey !== undefined || shows(traits, traitBit.keyInQuery | traitBit.keyInOtherHeader);
  return !hasKey && (method === "GET" || method === "HEAD") && probedPath.test(redactPath(path));
}

// The paths of the sandbox's own tools, under any base URL; API clients do not call them.
const ownPaths = "/__sandbox/";

// Describes the keys of a request in places where no key belongs, without containing them (R46); `undefined` if it has none.
function misplacedKeys(sandbox: SandboxState, call: ObservedCall) {
  const { presented } = call;
  const { apiKey = "", path, evidence } = call.request;
  const isUnknown = call.route === undefined;
  if (presented !== "malformed" && evidence === undefined && !isUnknown) return undefined;
  const inHeader = presented === "malformed" ? findFirstKeys(apiKey) : [];
  const isNotAlone = presented === "malformed" && isMeantAsKey(apiKey, inHeader);
  const inPath = isUnknown ? findFirstKeys(path) : [];
  const { inQuery = [], inHeaders = [] } = evidence ?? {};
  const sentKeys = [...inQuery, ...inHeaders, ...inHeader, ...inPath];
  if (sentKeys.length === 0 && !isNotAlone) return undefined;
  const real = sentKeys.find(
    (key) => parseApiKey(key)?.marked === false && shownKey(sandbox, key).key === null,
  );
  const notAlone = inHeaders[0] ?? (isNotAlone ? inHeader[0] : undefined);
  return {
    /** Whether one of them may be a real key: well-formed, not created by a sandbox, and unknown here. */
    hasRealKey: real !== undefined,
    /** Whether `x-api-key` contains more than the key, or a variable's name. */
    isNotAlone,
    /** The key for each advice id, if it is not the key in `x-api-key`. */
    keys: {
      ...(inQuery[0] !== undefined && { "key-in-query": shownKey(sandbox, inQuery[0]) }),
      ...(notAlone !== undefined && { "key-in-authorization": shownKey(sandbox, notAlone) }),
      ...(real !== undefined && { "real-key-suspected": shownKey(sandbox, real) }),
    },
  };
}

function shownKey({ platform, registry }: SandboxState, key: string): ShownKey {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}
