import type { ShownKey } from "../sandbox/counters.js";
import type { World } from "../sandbox/world.js";
import type { AdviceId } from "../spec/advice.js";
import { fingerprintOf, parseApiKey } from "../spec/api-key.js";
import { findFirstKeys } from "../spec/redact.js";
import { isMeantAsKey } from "../spec/request-traits.js";
import type { Call } from "./call.js";

/** Describes keys in places where no key belongs, without containing them (R46). */
export interface MisplacedKeys {
  /** Whether one of them may be a real key: well-formed, not created by a sandbox, and unknown here. */
  readonly hasRealKey: boolean;
  /** Whether `x-api-key` contains more than the key, or a variable's name. */
  readonly isNotAlone: boolean;
  /** The key for each advice id, if it is not the key in `x-api-key`. */
  readonly keys: Readonly<Partial<Record<AdviceId, ShownKey>>>;
}

/** Finds the keys of a request in places where no key belongs; `undefined` if it has none. */
export function findMisplacedKeys(
  world: World,
  { request, presented, route, isGuarded }: Call,
): MisplacedKeys | undefined {
  const { apiKey = "", path, keysInPath, evidence } = request;
  const inHeader = presented === "malformed" ? findFirstKeys(apiKey) : [];
  const isNotAlone = presented === "malformed" && isMeantAsKey(apiKey, inHeader);
  const inPath = route !== undefined || isGuarded ? [] : (keysInPath ?? findFirstKeys(path));
  const { inQuery = [], inHeaders = [] } = evidence ?? {};
  const all = [...inQuery, ...inHeaders, ...inHeader, ...inPath];
  if (all.length === 0 && !isNotAlone) return undefined;
  const real = all.find((key) => parseApiKey(key)?.marked === false && shownKey(world, key).key === null);
  const notAlone = inHeaders[0] ?? (isNotAlone ? inHeader[0] : undefined);
  return {
    hasRealKey: real !== undefined,
    isNotAlone,
    keys: {
      ...(inQuery[0] !== undefined && { "key-in-query": shownKey(world, inQuery[0]) }),
      ...(notAlone !== undefined && { "key-in-authorization": shownKey(world, notAlone) }),
      ...(real !== undefined && { "real-key-suspected": shownKey(world, real) }),
    },
  };
}

function shownKey({ platform, registry }: World, key: string): ShownKey {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}
