import type { AdviceId } from "../domain/advice.js";
import { fingerprintOf, noKey, parseApiKey } from "../domain/api-key.js";
import { findFirstKeys } from "../domain/redact.js";
import { isMeantAsKey } from "../domain/request-traits.js";
import type { ShownKey } from "../world/counters.js";
import type { World } from "../world/world.js";
import type { Call } from "./call.js";

/** A description of the keys in places where no key belongs; holds none of them (R46). */
export interface MisplacedKeys {
  /** Whether one of them may be a real key: well-formed, not made by a sandbox, and unknown here. */
  readonly hasRealKey: boolean;
  /** Whether `x-api-key` has something else with it, or the variable for it. */
  readonly isNotAlone: boolean;
  /** The key that an advice is about, if it is not the one in `x-api-key`. */
  readonly keys: Readonly<Partial<Record<AdviceId, ShownKey>>>;
}

/** Finds the keys of a request in places where no key belongs; `undefined` without any. */
export function findMisplacedKeys(
  world: World,
  { request, presented, route, isGuarded }: Call,
): MisplacedKeys | undefined {
  const { apiKey = noKey, path, keysInPath, evidence } = request;
  // Searched in every case, so that each 401 takes as long (R14); a well-formed key is judged as that of the request.
  const inText = findFirstKeys(apiKey);
  const isMeant = isMeantAsKey(apiKey, inText);
  const isMalformed = presented === "malformed";
  const isNotAlone = isMalformed && isMeant;
  const inHeader = isMalformed ? inText : [];
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
