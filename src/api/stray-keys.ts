import type { AdviceId } from "../domain/advice.js";
import { fingerprintOf, parseApiKey } from "../domain/api-key.js";
import { findKeys } from "../domain/redact.js";
import type { StrayKeys } from "../domain/request-traits.js";
import type { ShownKey } from "../sandbox/counters.js";
import type { World } from "../sandbox/world.js";

/** What may be told of the keys that stood where none belongs; holds none of them (R46). */
export interface ToldStrays {
  /** Whether one of them may be a real key: well-formed, made by no sandbox, and held by nobody here. */
  readonly hasRealKey: boolean;
  /** The key that an advice is about, where it is not the one that was presented. */
  readonly keys: Readonly<Partial<Record<AdviceId, ShownKey>>>;
}

/** Where keys may stand in a request. */
export interface StrayPlaces {
  readonly strays: StrayKeys | undefined;
  /** What came as the key, when nobody here holds it. */
  readonly unheldKey: string | undefined;
  /** The path, when the API does not have it. */
  readonly unknownPath: string | undefined;
}

/** Tells of the keys of a request that stand where none belongs; `undefined` when there are none. */
export function tellStrays(
  world: World,
  { strays, unheldKey, unknownPath }: StrayPlaces,
): ToldStrays | undefined {
  // What is well-formed as a whole is no stray: it is looked at as the key that was presented.
  const isMisshapen = unheldKey !== undefined && parseApiKey(unheldKey) === undefined;
  const inHeader = isMisshapen ? findKeys(unheldKey) : [];
  const inPath = unknownPath === undefined ? [] : findKeys(unknownPath);
  if (strays === undefined && inHeader.length === 0 && inPath.length === 0) return undefined;
  const { inQuery = [], inAuthorization = [] } = strays ?? {};
  const all = [...inQuery, ...inAuthorization, ...inHeader, ...inPath];
  const real = all.find((key) => parseApiKey(key)?.marked === false && shownKey(world, key).key === null);
  return {
    hasRealKey: real !== undefined,
    keys: {
      ...(inQuery[0] !== undefined && { "key-in-query": shownKey(world, inQuery[0]) }),
      ...(inAuthorization[0] !== undefined && {
        "key-in-authorization": shownKey(world, inAuthorization[0]),
      }),
      ...(real !== undefined && { "real-key-suspected": shownKey(world, real) }),
    },
  };
}

function shownKey({ platform, registry }: World, key: string): ShownKey {
  const sha256 = platform.sha256(key);
  return { key: registry.find(sha256)?.key.ref ?? null, fingerprint: fingerprintOf(sha256) };
}
