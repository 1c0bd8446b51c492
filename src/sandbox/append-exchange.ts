import { fingerprintOf, parseApiKey } from "../rules/api-key.js";
import { findFirstKeys } from "../rules/redact.js";
import { hasKeyElsewhere, isMeantAsKey } from "../rules/request.js";
import { controlPath, redactPath } from "../rules/request-path.js";
import type { ApiCall } from "./call.js";
import { advise } from "./journal/client-behavior.js";
import type { KeysOfAdvice, ShownKey } from "./journal/counts.js";
import type { Exchange } from "./journal/exchange.js";
import type { SandboxState } from "./sandbox.js";

/** Appends an exchange to the journal, with advice, and counts it for the report: the journal forgets, the counters do not. */
export function appendExchange(
  sandbox: SandboxState,
  exchange: Exchange,
  call: ApiCall,
  { keys }: CallSigns,
): void {
  if (isCounted(exchange)) {
    const { run } = sandbox;
    // No advice if the response hides what was wrong with the request.
    if (!run?.hidesCauses && !isUnremarkable(sandbox, exchange)) advise(sandbox, call, exchange);
    sandbox.counters.count(exchange, keys, call.trace);
  }
  sandbox.journal.record(exchange);
}

/** Whether the report counts a request: a client sent it to the API. */
function isCounted({ fromStory, isProbe, isMisdirected, path }: Exchange): boolean {
  return !fromStory && !isProbe && !(isMisdirected && path.includes(`${controlPath}/`));
}

// True for nearly every 200: no advice depends on it.
function isUnremarkable(
  { behavior }: SandboxState,
  { traits, outcome, leaksRealKey, fingerprint }: Exchange,
): boolean {
  const isSuccess = outcome === "200.test" || outcome === "200.live";
  return isSuccess && traits.length === 0 && !leaksRealKey && !behavior.rejected.has(fingerprint ?? "");
}

// The paths that browsers, watchdogs and load balancers request from any server.
const probedPath =
  /^\/(?:favicon\.ico|apple-touch-icon[^/]*\.png|robots\.txt|healthz?|livez|readyz|ping|status|metrics|actuator\/health(?:\/.*)?|\.well-known\/.*)?$/;

/** What the place of a call's keys and its path show about its client, without containing a key (R46). */
export interface CallSigns {
  /** Whether it probes any web server, such as for a favicon. */
  readonly isProbe: boolean;
  /** Whether a possibly real key is where no key belongs: well-formed, not created by a sandbox, and unknown here. */
  readonly leaksRealKey: boolean;
  /** Whether `x-api-key` contains more than the key, or a variable's name. */
  readonly isNotAlone: boolean;
  /** The key for each advice id, if it is not the key in `x-api-key`. */
  readonly keys?: KeysOfAdvice;
}

const noSigns: CallSigns = Object.freeze({ isProbe: false, leaksRealKey: false, isNotAlone: false });

export function signsOf(sandbox: SandboxState, call: ApiCall): CallSigns {
  const { presented } = call;
  const { apiKey = "", evidence } = call.request;
  if (presented !== "malformed" && evidence === undefined && call.route !== undefined) return noSigns;
  const isProbe = isProbeOfServer(call);
  const inHeader = presented === "malformed" ? findFirstKeys(apiKey) : [];
  const isNotAlone = presented === "malformed" && isMeantAsKey(apiKey, inHeader);
  const { inQuery = [], inUrl = [], inHeaders = [] } = evidence ?? {};
  const sentKeys = [...inQuery, ...inHeaders, ...inHeader, ...inUrl];
  if (sentKeys.length === 0 && !isNotAlone) return { ...noSigns, isProbe };
  const real = sentKeys.find(
    (key) => parseApiKey(key)?.marked === false && shownKey(sandbox, key).key === null,
  );
  const notAlone = inHeaders[0] ?? (isNotAlone ? inHeader[0] : undefined);
  return {
    isProbe,
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

function isProbeOfServer(call: ApiCall): boolean {
  const { method, path, apiKey, traits, fromStory } = call.request;
  if (call.route !== undefined || fromStory) return false;
  const hasKey = apiKey !== undefined || hasKeyElsewhere(traits);
  return !hasKey && (method === "GET" || method === "HEAD") && probedPath.test(redactPath(path));
}

function shownKey({ platform, registry }: SandboxState, key: string): ShownKey {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}
