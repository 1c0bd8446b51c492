import type { DescribedKey } from "./build-keys.js";

/** What every key of a rotation has in common (R37): what one of its keys says holds for all. */
export interface SharedByRotation {
  /** Ref of the key that the rotation began with. */
  readonly first: string;
  readonly name: string | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly perMinute: number | undefined;
  readonly perDay: number | undefined;
}

/** For each key the rotation that it is part of; a key that was never rotated is one of its own. */
export function sharedByRotation(keys: readonly DescribedKey[]): ReadonlyMap<string, SharedByRotation> {
  const byRef = new Map(keys.map((one) => [one.ref, one]));
  const replacements = new Set(keys.map(({ given }) => given.replaced_by));
  const shared = new Map<string, SharedByRotation>();
  for (const one of keys) {
    if (replacements.has(one.ref)) continue;
    const chain = chainFrom(one, byRef);
    const common: SharedByRotation = {
      first: one.ref,
      name: firstGiven(chain, ({ given }) => given.name),
      scopes: firstGiven(chain, ({ given }) => given.scopes),
      perMinute: firstGiven(chain, ({ given }) => given.limits?.per_minute),
      perDay: firstGiven(chain, ({ given }) => given.limits?.per_day),
    };
    for (const { ref } of chain) shared.set(ref, common);
  }
  return shared;
}

// The scenario's checks have seen that no key replaces two and that there is no circle.
function chainFrom(first: DescribedKey, byRef: ReadonlyMap<string, DescribedKey>): DescribedKey[] {
  const chain: DescribedKey[] = [];
  for (let next: DescribedKey | undefined = first; next !== undefined; ) {
    chain.push(next);
    next = byRef.get(next.given.replaced_by ?? "");
  }
  return chain;
}

function firstGiven<Value>(
  chain: readonly DescribedKey[],
  read: (one: DescribedKey) => Value | undefined,
): Value | undefined {
  return chain.map(read).find((value) => value !== undefined);
}
