import type { AdviceId } from "../domain/advice.js";
import { fingerprintOf, noKey, parseApiKey } from "../domain/api-key.js";
import { findKeys } from "../domain/redact.js";
import type { LeakedKeys } from "../domain/request-traits.js";
import type { ShownKey } from "../sandbox/counters.js";
import type { World } from "../sandbox/world.js";
import type { BegunCall } from "./reply.js";

/** A description of the leaked keys of a request that holds none of them (R46). */
export interface DescribedLeaks {
  /** Whether one of them may be a real key: well-formed, not made by a sandbox, and unknown here. */
  readonly hasRealKey: boolean;
  /** The key that an advice is about, where it is not the one in `x-api-key`. */
  readonly keys: Readonly<Partial<Record<AdviceId, ShownKey>>>;
}

/** Describes the leaked keys of a request; `undefined` when there are none. `unknownPath` is a path that the API lacks. */
export function describeLeaks(
  world: World,
  { apiKey = noKey, presented }: BegunCall,
  {
    leaked,
    unknownPath,
  }: { readonly leaked: LeakedKeys | undefined; readonly unknownPath: string | undefined },
): DescribedLeaks | undefined {
  // Searched in every case, so that each 401 takes as long (R14); a well-formed key is judged as that of the request.
  const inText = findKeys(apiKey);
  const inHeader = presented === "malformed" ? inText : [];
  const inPath = unknownPath === undefined ? [] : findKeys(unknownPath);
  if (leaked === undefined && inHeader.length === 0 && inPath.length === 0) return undefined;
  const { inQuery = [], inAuthorization = [] } = leaked ?? {};
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
